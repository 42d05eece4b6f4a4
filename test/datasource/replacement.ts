import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { createForm, DATASETS } from '../support/upload-form.ts';

/** Replaces the file of a datasource. */
export const REPLACE = `mutation ($id: ID!, $input: ReplaceDatasourceFileInput!) {
  replaceDatasourceFile(id: $id, input: $input) {
    operation { status resource { kind id } } problems { message } notRefreshed refreshed { datasetId records }
    result { id type file { filename size } }
  }
}`;
/** Returns a file as a value of GraphQL. */
export const fileOf = (content: string | Uint8Array): string =>
  `data:text/csv;base64,${Buffer.from(content).toString('base64')}`;

/** Uploads a dataset. Returns its id, the id of its datasource, and the path that replaces its file. */
export async function upload(client: Client, content: BlobPart, filename: string, fields: Record<string, string> = {}) {
  const { id, datasourceId } = await expectBody(
    client.post(DATASETS, createForm(content, filename, { before: fields })),
    201,
    {},
  );
  return { id: id as string, datasourceId: datasourceId as string, path: `/datasources/${datasourceId}/_upload` };
}

/** Returns the rows of a dataset. */
export const rowsOf = async (client: Client, id: string) =>
  (await client.get(`/datasets/${id}/data`)).body._embedded['svc:record'].map(
    ({ _links, ...row }: Record<string, unknown>) => row,
  );
