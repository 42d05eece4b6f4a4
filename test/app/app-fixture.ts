import type { ApiResponse, Client } from '../support/client.ts';

/** Sends the contents of a file of an app. */
export async function putFile(
  client: Client,
  appId: string,
  path: string,
  content: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  const response = await fetch(`${client.url}/api/apps/${appId}/files/${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream', ...client.headers, ...headers },
    body: content as BodyInit,
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  } as ApiResponse;
}

/** Requests the contents of a file of an app. */
export const getFile = (client: Client, appId: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${client.url}/api/apps/${appId}/files/${path}`, { headers: { ...client.headers, ...headers } });

/** Creates an app with files. Returns its id. */
export async function createApp(client: Client, name: string, files: Record<string, string> = {}): Promise<string> {
  const { id } = await client.creates('/apps', { name });
  for (const [path, content] of Object.entries(files)) {
    const { status, body } = await putFile(client, id, path, content);
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  }
  return id;
}
