"""
Rows of a dataset in pandas. Parquet keeps types and is the fastest; a filter selects rows before they are sent;
numbers that a float would change arrive as exact texts and become decimals.

    DWS_TOKEN=… python order_lines.py
"""

import io
import json
import os
import sys
from decimal import Decimal

import httpx
import pandas as pd

if not os.environ.get("DWS_TOKEN"):
    sys.exit("Set DWS_TOKEN to an API token, as README.md shows")
DATASET = os.environ.get("DWS_DATASET", "order-lines")
service = httpx.Client(
    base_url=os.environ.get("DWS_URL", "http://127.0.0.1:4000"),
    headers={"Authorization": f"Bearer {os.environ['DWS_TOKEN']}"},
    timeout=60,
)

# What a text of a field with this format is. Other values are JSON numbers, texts, booleans and dates already.
EXACT = {"decimal": Decimal, "int64": int}


def get(path: str, **query: str) -> httpx.Response:
    """Returns the response to a GET. Raises with the message of the service."""
    response = service.get(f"/api/datasets/{DATASET}{path}", params=query)
    if response.is_error:
        error = response.json()
        raise RuntimeError(f"{error['statusCode']} {error['code']}: {error['message']}")
    return response


def exact(frame: pd.DataFrame, fields: list[dict]) -> pd.DataFrame:
    """Replaces the texts of exact numbers by decimals and whole numbers."""
    for field in fields:
        convert = EXACT.get(field["format"])
        if convert and field["name"] in frame:
            frame[field["name"]] = frame[field["name"]].map(convert, na_action="ignore").astype(object)
    return frame


def read_all() -> pd.DataFrame:
    """All rows, as Parquet."""
    fields = get("").json()["fields"]
    frame = pd.read_parquet(io.BytesIO(get("/export", format="parquet").content))
    return exact(frame, fields)


def read_page(criteria: dict, **query: str) -> pd.DataFrame:
    """One page of the rows that match, as JSON."""
    page = get("/data", filter=json.dumps(criteria), **query).json()
    return exact(pd.DataFrame(page["_embedded"]["svc:record"]), page["fields"])


def read_csv(criteria: dict) -> pd.DataFrame:
    """The rows that match, as CSV. Texts, so that pandas does not round what the service kept exact."""
    text = get("/export", format="csv", filter=json.dumps(criteria)).text
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


rows = read_all()
print("rows", len(rows), list(rows.columns))
print("times", rows["ordered_at"].dtype, rows["ordered_at"].max().isoformat())
for country, total in rows.groupby("country")["amount"].sum().items():
    print("total", country, total)

france = read_page({"country": "France", "amount": {"$gte": 100}}, sort="-amount", limit="10")
print("page", france["amount"].tolist())
large = read_csv({"amount": {"$gt": 1000}})
print("csv", len(large), large.head(1).to_dict("records"))

try:
    read_page({"contry": "France"})
except RuntimeError as error:
    print("error", error)
