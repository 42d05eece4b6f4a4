import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test as base } from '../support/report-fixture.ts';

export { expectStatus };
export const test = base;

/** A template with files, inputs, processors and settings. */
export interface TestTemplate {
  id: string;
  path: string;
  slug: string;
}

/** Parts of a test template. */
export interface TemplateParts {
  /** Contents of TEMPLATE files by their names. The first one is rendered. */
  files?: Record<string, string | Uint8Array>;
  /** Contents of ASSET files, and of DATA files, by their names. */
  assets?: Record<string, string | Uint8Array>;
  data?: Record<string, string | Uint8Array>;
  inputs?: object[];
  processors?: object[];
  settings?: object;
}

/** Creates a template of the caller. */
export async function createRenderable(
  owner: Client,
  { files = {}, assets = {}, data = {}, inputs, processors, settings }: TemplateParts,
  input: object = {},
): Promise<TestTemplate> {
  const { id, slug } = await owner.creates('/templates', { name: 'Report', ...(settings && { settings }), ...input });
  const path = `/templates/${id}`;
  for (const [role, contents] of Object.entries({ TEMPLATE: files, ASSET: assets, DATA: data }))
    for (const [filename, content] of Object.entries(contents)) await addFile(owner, path, role, filename, content);
  if (inputs) await expectStatus(owner.put(`${path}/inputs`, { inputs }), 200);
  if (processors) await expectStatus(owner.put(`${path}/processors`, { processors }), 200);
  return { id, path, slug };
}

/** Adds a file to a template. Returns its id. */
export async function addFile(
  owner: Client,
  path: string,
  role: string,
  filename: string,
  content: string | Uint8Array,
): Promise<string> {
  const form = new FormData();
  form.append('role', role);
  form.append('filename', filename);
  form.append('file', new Blob([content as BlobPart]), filename.split('/').at(-1));
  const { status, body } = await owner.request('POST', `/api${path}/files/_upload`, form);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** Replaces the contents of a file of a template. */
export const setContents = async (owner: Client, path: string, filename: string, content: string): Promise<void> =>
  expectStatus(
    owner.request('PUT', `/api${path}/files/${encodeURIComponent(filename)}/contents`, content, {
      'content-type': 'text/plain',
    }),
    200,
  );

/** A document that was rendered. */
export interface RenderedResponse {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
  /** The body of an error. */
  error: { code: string; message: string; validation?: Record<string, unknown>[] };
}

/** Renders a template by REST. */
export async function render(
  caller: Client,
  path: string,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<RenderedResponse> {
  const response = await fetch(`${caller.url}/api${path}/_render`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...caller.headers, ...headers },
    body: JSON.stringify(body),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString('utf8');
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, bytes, text, error: isJson ? JSON.parse(text) : null };
}

const RENDER = `mutation ($id: ID!, $input: RenderTemplateInput, $progress: String, $wait: Boolean) {
  renderTemplate(templateId: $id, input: $input, progress: $progress, wait: $wait) {
    operation { id operation status percent progress error { code validation { path message code line column } } }
    result { id templateId handler filename contentType size pages expiresAt contentsUrl text }
  }
}`;

/** Renders a template by GraphQL. */
export const renderByGraphql = (
  caller: Client,
  id: string,
  input: object = {},
  more: { progress?: string; wait?: boolean } = {},
) => caller.gql(RENDER, { id, input, ...more });
