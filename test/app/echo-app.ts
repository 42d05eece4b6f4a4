import { request as httpRequest, type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import { BODY_LIMITS } from '../../src/server/app-bodies.ts';
import type { Client } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';
import { createApp } from './app-fixture.ts';

/** A module whose handlers return their request, or what the header `x-respond` says as JSON, or fail with `?fail=`. */
export const echo = (methods: readonly string[], config: object = {}): string => `
  const handle = async ({ request }) => {
    const { method, path, params, query, headers, rawBody, user, roles } = request;
    if (query.fail) throw new Error(query.fail);
    const echo = { method, path, params, query, headers, rawBody, user, roles };
    if (headers['x-respond'] === undefined) return echo;
    const { status = 200, headers: own = {}, body = echo } = JSON.parse(headers['x-respond']);
    return { status, headers: own, body };
  };
  export const config = ${JSON.stringify(config)};
  export { ${methods.map((method) => `handle as ${method}`).join(', ')} };`;

/** Returns the same memory for the bodies of each entrance of an app. */
export const poolsOf = (bytes: number) => ({ ...BODY_LIMITS.poolBytes, view: bytes, proven: bytes, open: bytes });

export const VIEW_METHODS = ['get', 'post', 'put', 'patch', 'delete'];
export const WEBHOOK_METHODS = ['get', 'post', 'put'];

/** Creates an app with files and deploys it. Returns its id. */
export async function deployApp(client: Client, name: string, files: Record<string, string>): Promise<string> {
  const id = await createApp(client, name, files);
  await deploy(client, id);
  return id;
}

/** Creates an app that declares access to the rights of its callers, and deploys it. Returns its id. */
export async function deployAppWith(
  client: Client,
  name: string,
  files: Record<string, string>,
  access: { scopes: string[]; hosts?: string[] },
): Promise<string> {
  const id = await createApp(client, name, files);
  await client.put(`/apps/${id}`, { access });
  await deploy(client, id);
  return id;
}

/** Shares an app with a user, who grants it scopes. */
export async function grantApp(
  service: Service,
  owner: Client,
  user: Client,
  id: string,
  scopes: string[],
  hosts: string[] = [],
): Promise<void> {
  await owner.put(`/apps/${id}/shares/${user.id}`, { accessLevel: 1 });
  const session = await service.login(user.username);
  const { status, body } = await session.put(`/me/app-grants/${id}`, { scopes, hosts });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}

/** Deploys an app. */
export async function deploy(client: Client, id: string): Promise<void> {
  const { status, body } = await client.post(`/apps/${id}/_deploy`);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}

/** Starts another process of a service, with the same database and files. */
export const startSecond = ({ databaseUrl, platform }: Service): Promise<Service> =>
  startService({ ROLE: 'web', DATA_DIR: platform.config.DATA_DIR }, { databaseUrl });

/** A response with its body as bytes. */
export interface RawResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Sends a request as it is: any method, path and headers. An `unfinished` one is not ended after the part that is sent. */
export const sendRaw = (
  client: Client,
  method: string,
  path: string,
  {
    headers = {},
    body,
    unfinished = false,
  }: { headers?: Record<string, string>; body?: string | Buffer; unfinished?: boolean } = {},
): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(client.url);
    const request = httpRequest(
      { hostname, port, method, path: `/api${path}`, headers: { ...client.headers, ...headers } },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) });
          request.destroy();
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    if (body !== undefined) request.write(body);
    if (!unfinished) request.end();
  });

/**
 * Begins requests with bodies of 10 MB, but sends only the first `bytes`. Each has the headers of the client and its own.
 */
export function openBodies(
  client: Client,
  path: string,
  {
    count,
    bytes = 1,
    headersOf = () => ({}),
  }: { count: number; bytes?: number; headersOf?: (n: number) => Record<string, string> },
) {
  const { hostname, port } = new URL(client.url);
  const requests = Array.from({ length: count }, (_, n) => {
    const headers = { ...client.headers, ...headersOf(n), 'content-length': '10000000' };
    const request = httpRequest({ hostname, port, path: `/api${path}`, method: 'POST', headers });
    request.on('error', () => {});
    request.write(Buffer.alloc(bytes));
    return request;
  });
  const statusOf = (request: ClientRequest) =>
    new Promise((resolve) => request.once('response', ({ statusCode }) => resolve(statusCode)));
  return {
    firstStatus: Promise.race(requests.map(statusOf)),
    /** Resolves when the server has closed all connections. */
    closed: Promise.all(requests.map((request) => new Promise((resolve) => request.once('close', resolve)))),
    close: () => requests.forEach((request) => request.destroy()),
  };
}
