import { expect } from 'vitest';
import type { ApiResponse, Client } from '../support/client.ts';
import { test as base } from '../support/fixture.ts';

/** A template with its path. */
export interface TestTemplate {
  id: string;
  path: string;
}

/** Creates a template of the caller. */
export async function createTemplate(client: Client, more: object = {}): Promise<TestTemplate> {
  const { id } = await client.creates('/templates', { name: 'Invoice', ...more });
  return { id, path: `/templates/${id}` };
}

/** Creates an empty file in a template. Returns its id. */
export const createFile = async (
  client: Client,
  { path }: TestTemplate,
  filename: string,
  role = 'ASSET',
): Promise<string> => (await client.creates(`${path}/files`, { filename, role })).id;

/** Path of a file of a template, by its id or name. */
export const filePath = ({ path }: TestTemplate, key: string): string => `${path}/files/${encodeURIComponent(key)}`;

/** Replaces the contents of a file. */
export const writeFile = (
  client: Client,
  template: TestTemplate,
  key: string,
  contents: string,
  headers: Record<string, string> = {},
): Promise<ApiResponse> =>
  client.request('PUT', `/api${filePath(template, key)}/contents`, contents, {
    'content-type': 'application/x-any',
    ...headers,
  });

/** Returns the contents of a file. */
export async function readFile(client: Client, template: TestTemplate, key: string): Promise<unknown> {
  const response = await client.get(`${filePath(template, key)}/contents`);
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  return response.body;
}

/** Creates a file with contents. Returns its id. */
export async function createFilled(
  client: Client,
  template: TestTemplate,
  filename: string,
  contents: string,
  role = 'ASSET',
): Promise<string> {
  const id = await createFile(client, template, filename, role);
  expect(await writeFile(client, template, id, contents)).toMatchObject({ status: 200, body: { success: true } });
  return id;
}

/** Returns the names of the files of a template. */
export const fileNames = async (client: Client, { path }: TestTemplate): Promise<string[]> =>
  (await client.get(`${path}/files`)).body._embedded['svc:template-file'].map(
    ({ filename }: { filename: string }) => filename,
  );

/** Creates a form with a file. */
export function createUpload(content: BlobPart, filename: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([content], { type: 'application/octet-stream' }), filename);
  return form;
}

/** Returns the draft of a template, which is created if there is none. */
export async function edit(client: Client, { path }: TestTemplate): Promise<TestTemplate> {
  const { status, body } = await client.post(`${path}/_edit`);
  expect(status, JSON.stringify(body)).toBe(200);
  return { id: body.id, path: `/templates/${body.id}` };
}

export const test = base;
