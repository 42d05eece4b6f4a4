"""
The same service through a client that openapi-python-client generates from the OpenAPI document: see README.md.

    DWS_TOKEN=… python generated_client.py
"""

import json
import os
import sys

if not os.environ.get("DWS_TOKEN"):
    sys.exit("Set DWS_TOKEN to an API token, as README.md shows")

from generated.dws_client import AuthenticatedClient
from generated.dws_client.api.data_sources import get_datasource
from generated.dws_client.api.datasets import create_dataset, get_dataset, list_datasets
from generated.dws_client.api.rows import export_dataset, list_dataset_rows, search_dataset_rows
from generated.dws_client.models import (
    CreateDatasetInput,
    Criteria,
    ErrorResponse,
    ExportFormat,
    SearchDatasetRowsBody,
)

client = AuthenticatedClient(
    base_url=os.environ.get("DWS_URL", "http://127.0.0.1:4000"), token=os.environ["DWS_TOKEN"]
)

datasource = get_datasource.sync(os.environ.get("DWS_DATASOURCE", "demo-shop"), client=client)
dataset = create_dataset.sync(
    client=client,
    body=CreateDatasetInput(
        name="Orders by client",
        datasource_id=str(datasource.id),
        query="select order_id, line, amount from order_items order by order_id",
        refresh=True,
    ),
)
print("created", dataset.slug, dataset.records, dataset.created_at.year > 2000)

page = list_datasets.sync(client=client, q="Orders by client", limit=5)
print("listed", page.total, [item.name for item in page.field_embedded.svcdataset])
print("same", get_dataset.sync(dataset.slug, client=client).id == dataset.id)

# A filter in the query string is JSON; in a body it is an object.
filter_text = json.dumps({"order_id": {"$lte": 1}})
rows = list_dataset_rows.sync(str(dataset.id), client=client, filter_=filter_text, sort="-order_id")
print("rows", [record.to_dict() for record in rows.field_embedded.svcrecord])
criteria = Criteria.from_dict({"order_id": {"$gt": 4}})
body = SearchDatasetRowsBody(filter_=criteria, limit=2)
found = search_dataset_rows.sync(str(dataset.id), client=client, body=body)
print("found", [record.to_dict() for record in found.field_embedded.svcrecord])

# The parsed body of a file is a text; the bytes of a Parquet file are in `content`.
file = export_dataset.sync_detailed(str(dataset.id), client=client, format_=ExportFormat.PARQUET)
print("file", file.content[:4])

error = list_dataset_rows.sync(str(dataset.id), client=client, filter_='{"contry": "France"}')
if isinstance(error, ErrorResponse):
    print("error", error.status_code, error.code.value, error.message)
