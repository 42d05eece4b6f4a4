import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { newId } from '../../src/core/id.ts';
import { startAiFake } from '../../tools/ai-fake.ts';
import type { FakeReply } from '../../tools/ai-fake/fake-chat.ts';
import type { AiFake } from '../../tools/ai-fake/fake-provider.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { test as base } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createForm, ORDERS } from '../support/upload-form.ts';

/** A request that the HTTP server of the tests received. */
interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** An HTTP server on loopback for the requests of custom tools. */
export interface HttpTarget {
  url: string;
  requests: ReceivedRequest[];
  /** Returns status and body of a response. */
  respond: (request: ReceivedRequest) => { status?: number; body: string };
}

/** An agent with its path. */
export interface TestAgent {
  id: string;
  path: string;
  assistantId: string;
}

async function startTarget(): Promise<HttpTarget & { close(): void }> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const received = { method: request.method!, url: request.url!, headers: request.headers, body };
      target.requests.push(received);
      const { status = 200, body: sent } = target.respond(received);
      response.writeHead(status, { 'content-type': 'text/plain' }).end(sent);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target: Awaited<ReturnType<typeof startTarget>> = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [] as ReceivedRequest[],
    respond: () => ({ body: 'ok' }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return target;
}

/** A service that may call this machine, with a fake AI provider of the tenant, and an HTTP server. */
export const test = base.extend<{ service: Service; ai: AiFake; ready: void; target: HttpTarget; eve: Client }>({
  service: [
    async ({}, use) => {
      const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
      service.platform.publicUrl = service.url;
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  ai: [
    async ({ admin }, use) => {
      const fake = await startAiFake();
      await admin.creates('/ai-providers', fake.provider);
      await use(fake);
      await fake.close();
    },
    { scope: 'file' },
  ],
  ready: [
    async ({ ai }, use) => {
      ai.reset();
      await use();
    },
    { auto: true },
  ],
  target: async ({}, use) => {
    const target = await startTarget();
    await use(target);
    target.close();
  },
  /** May create toolkits, too. */
  eve: [
    async ({ service }, use) =>
      use(
        await service.user('eve', {
          permissions: [
            'assistants:create',
            'toolkits:create',
            'queries:create',
            'datasources:create',
            'datasets:create',
            'ai:access',
          ],
        }),
      ),
    { scope: 'file' },
  ],
});

/** Creates an assistant of the caller with an agent. */
export async function createAgent(client: Client, assistant: object = {}, agent: object = {}): Promise<TestAgent> {
  const { id: assistantId } = await client.creates('/assistants', { name: `Assistant ${newId()}`, ...assistant });
  const { id } = await client.creates('/agents', { name: 'Clerk', assistantId, ...agent });
  return { id, assistantId, path: `/agents/${id}` };
}

/** The field `events` of an agent or assistant: events of one app. */
export const onEvents = (appId: string, ...names: string[]): { events: { appId: string; name: string }[] } => ({
  events: names.map((name) => ({ appId, name })),
});

/** Creates a toolkit of the caller with custom tools. Returns its id. */
export const createTools = async (client: Client, tools: object[], more: object = {}): Promise<string> =>
  (await client.creates('/toolkits', { name: `Tools ${newId()}`, type: 'custom', config: { tools }, ...more })).id;

/** Uploads a dataset of orders. Returns its id. */
export const uploadOrders = async (client: Client): Promise<string> =>
  (await client.request('POST', '/api/datasets/_upload', createForm(ORDERS))).body.id;

/** Runs an agent with a model that returns these replies. Returns the run. */
export async function runAgent(
  client: Client,
  { path }: Pick<TestAgent, 'path'>,
  ai: AiFake,
  script: readonly FakeReply[],
  payload?: unknown,
): Promise<ApiResponse['body']> {
  ai.script.push(...script);
  const { status, body } = await client.post(`${path}/_run`, { payload });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** A reply that calls one tool. */
export const callOf = (name: string, args: Record<string, unknown> | string = {}): FakeReply => ({
  content: null,
  toolCalls: [{ name, arguments: args }],
});

/** Returns what the model got as the results of tools in its last call. */
export const resultsOf = (ai: AiFake): string[] =>
  ai.calls
    .at(-1)!
    .messages!.filter(({ role }) => role === 'tool')
    .map(({ content }) => content!);

/** The reply with which a run ends. */
export const DONE: FakeReply = { content: 'done' };

/** A schema of arguments: an id, which is required. */
export const ID_SCHEMA = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };

/** Stores events of an app, as handlers do. Their payloads count them. */
export const insertEvents = (service: Service, appId: string, name: string, count = 1, depth = 0) =>
  systemQuery(
    service,
    `insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth)
    select gen_random_uuid(), tenant_id, id, $2, jsonb_build_object('n', n), owner_id, $4
    from dws.app, generate_series(1, $3) n where dws.app.id = $1`,
    appId,
    name,
    count,
    depth,
  );
