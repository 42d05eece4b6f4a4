import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { createAgent, test } from '../agent/agent-fixture.ts';
import { createJob } from '../job/job-fixture.ts';
import { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';
import { createRemote } from '../toolkit/discovery-fixture.ts';

/* An outgoing call to a host that does not exist, or does not accept connections, is never the loss of the own Postgres. */

async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

const port = await findClosedPort();
const HOSTS = [
  { url: 'https://no-such-host.invalid', host: 'no-such-host.invalid', port: 443 },
  { url: `http://127.0.0.1:${port}`, host: '127.0.0.1', port },
];
type Host = (typeof HOSTS)[number];
interface Outcome {
  status: number;
  message: string;
}

const outcomeOf = ({ status, body }: { status: number; body: { message: string } }): Outcome => ({
  status,
  message: body.message,
});

/** Creates a provider with models that are named by the host. */
async function addProvider(client: Client, { url, host }: Host): Promise<void> {
  const models = [
    { id: `image-${host}`, kind: 'image', tier: 'everyday', sizes: ['64x64'], price: 0.01 },
    { id: `chat-${host}`, kind: 'chat', tier: 'everyday', inputPrice: 1, outputPrice: 1 },
  ];
  await client.creates('/ai-providers', { name: 'None', baseUrl: `${url}/v1`, apiKey: 'x', models, own: true });
}

/** Runs the only action of a job. Returns its outcome. */
async function runWebhook(client: Client, { url }: Host): Promise<Outcome> {
  const { path } = await createJob(client);
  await client.creates(`${path}/actions`, { type: 'webhook', name: 'Call', data: { url: `${url}/hook` } });
  await client.post(path, {});
  const [run] = (await client.get(`${path}/history?limit=1`)).body._embedded['svc:job-history'];
  return { status: 503, message: run.history[0].result.error };
}

async function runAgent(client: Client, host: Host): Promise<Outcome> {
  await addProvider(client, host);
  const { path } = await createAgent(client, { model: `chat-${host.host}` });
  const { body } = await client.post(`${path}/_run`, {});
  return { status: 503, message: body.error };
}

async function createImage(client: Client, host: Host): Promise<Outcome> {
  await addProvider(client, host);
  return outcomeOf(
    await client.post('/_create-image', { prompt: 'A cat', model: `image-${host.host}`, size: '64x64' }),
  );
}

async function logIn(service: Service, { url, host }: Host): Promise<Outcome> {
  const domain = `${host.replaceAll('.', '-')}.example`;
  const session = await service.login('admin');
  await session.creates('/identity-providers', { name: 'None', domain, issuer: url, clientId: 'x', clientSecret: 'x' });
  return outcomeOf(await new Client(service.url).get(`/login/${domain}`));
}

async function querySource(client: Client, type: string, { host, port }: Host): Promise<Outcome> {
  const { id: datasourceId } = await client.creates('/datasources', {
    type,
    name: `None ${type}`,
    config: { host, port, database: 'x', user: 'x' },
    secrets: { password: 'x' },
  });
  const dataset = await client.creates('/datasets', { name: `None ${type}`, datasourceId, query: 'select 1' });
  return outcomeOf(await client.post(`/datasets/${dataset.id}/_refresh`));
}

describe.for(HOSTS)('the host $host is named', (host) => {
  test.for<[kind: string, status: number, call: (service: Service, admin: Client) => Promise<Outcome>]>([
    ['an image of an AI provider', 503, (_, admin) => createImage(admin, host)],
    ['a run of an agent', 503, (_, admin) => runAgent(admin, host)],
    ['a webhook of a job', 503, (_, admin) => runWebhook(admin, host)],
    ['an identity provider', 503, (service) => logIn(service, host)],
    [
      'an MCP server',
      503,
      async (_, admin) =>
        outcomeOf(await admin.post(`${(await createRemote(admin, `${host.url}/mcp`)).path}/discover`)),
    ],
    // The specification demands 500.
    ['a refresh from Postgres', 500, (_, admin) => querySource(admin, 'postgres', host)],
    ['a refresh from MySQL', 500, (_, admin) => querySource(admin, 'mysql', host)],
  ])('by %s', async ([, status, call], { service, admin }) => {
    const outcome = await call(service, admin);
    expect(outcome).toEqual({ status, message: expect.stringContaining(host.host) });
    expect(outcome.message).not.toMatch(/database does not|worker process/);
  });
});
