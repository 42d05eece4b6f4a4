import { expect, test as base } from 'vitest';
import { startAiFake } from '../../tools/ai-fake.ts';
import { onEvents } from '../agent/agent-fixture.ts';
import { createApp } from '../app/app-fixture.ts';
import { createJob, createNotify } from '../job/job-fixture.ts';
import { collect, eventually } from '../operation/fixture.ts';
import { expectStatus } from '../support/expect.ts';
import { openSocket } from '../support/follow-operation.ts';
import { startMailServer } from '../support/mail-server.ts';
import { makeMillion } from '../support/million-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { ADMIN_PASSWORD, byToken, logIn, newFolder, startProcess } from '../support/service-process.ts';
import { startTraceCollector, type CollectedSpan, type TraceCollector } from '../support/trace-collector.ts';
import { createForm, DATASETS, ORDERS } from '../support/upload-form.ts';
import { sparesOf } from '../support/uploaded-source.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const LITERAL = 'literal of the query';
const REFRESH = `mutation Reload($id: ID!) { refreshDataset(id: $id) { result { success } } }`;

interface Setup {
  variables: Record<string, string>;
  collector: TraceCollector;
}

const test = base.extend<{ setup: Setup }>({
  setup: async ({}, use) => {
    const stack = new AsyncDisposableStack();
    try {
      const collector = await startTraceCollector();
      stack.defer(collector.close);
      const database = await createDatabase();
      stack.defer(database.drop);
      const folder = newFolder();
      stack.defer(folder.remove);
      const variables = {
        DATABASE_URL: database.url,
        DATA_DIR: folder.path,
        APP_SECRET: 'a secret of several processes of enough characters',
        ADMIN_PASSWORD,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      };
      await use({ variables, collector });
    } finally {
      await stack.disposeAsync();
    }
  },
});

/** Returns the names of a span and its ancestors, from the top; the top has the id of the caller's span in its place. */
function chainOf(spans: CollectedSpan[], span: CollectedSpan | undefined): (string | null)[] {
  if (!span) return [];
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent ? chainOf(spans, parent) : [span.parentSpanId]), `${span.resource['dws.role']}: ${span.name}`];
}

/** Returns the name of a span of a process with all roles, as in `chainOf`. */
const ofAll = (name: string): string => `all: ${name}`;

test('a refresh by GraphQL is one trace from the caller over web and worker to the source; a mail and its request too', async ({
  setup: { variables, collector },
}) => {
  const mails = await startMailServer();
  const [web, worker] = await Promise.all(
    ['web', 'worker'].map((ROLE) => startProcess({ ...variables, ROLE, SMTP_URL: mails.url })),
  );
  const session = await logIn(web!.url);
  const admin = (await byToken(session)).with({ traceparent: `00-${TRACE}-${CALLER}-01` });
  const dataset = await makeMillion(admin, `select name as region, '${LITERAL}' as note from region`);
  const source = (await admin.get(`/datasets/${dataset.id}`)).body.datasourceId as string;

  expect(await admin.data(REFRESH, { id: dataset.id })).toEqual({ refreshDataset: { result: { success: true } } });
  const socket = openSocket(admin);
  await collect(socket.iterate('query OverSocket { me { username } }', {}));
  await collect(socket.iterate(REFRESH.replace('Reload', 'ReloadOverSocket'), { id: dataset.id }));
  await socket.dispose();
  expect((await admin.get(`/datasets/${dataset.id}/data?filter={"region":"${LITERAL}"}`)).status).toBe(200);
  expect((await admin.post(`/datasets/${dataset.id}/_run`, {})).status).toBe(200);
  expect((await admin.put(`/datasets/${dataset.id}`, { query: `select '${LITERAL}'::integer` })).status).toBe(200);
  expect((await admin.gql(REFRESH, { id: dataset.id })).errors[0].extensions.code).toBe('UPSTREAM_FAILED');
  expect((await admin.get('/datasets/unknown')).status).toBe(404);
  await admin.with({ traceparent: `00-${TRACE}-of nobody-01` }).get('/session');
  expect((await session.put('/users/admin', { email: 'secret.person@example.com' })).status).toBe(200);
  expect((await admin.post('/password-reset', { username: 'admin' })).status).toBe(204);
  await eventually(async () => mails.received.length > 0);

  // The stop sends what is left.
  expect(await Promise.all([web, worker].map((one) => one!.end('SIGTERM')))).toEqual([0, 0]);
  await dataset.drop();
  await mails.close();

  const { spans } = collector;
  const find = (name: string, error: string | null = null) =>
    spans.find((span) => span.name === name && span.error === error && span.traceId === TRACE);
  const request = [CALLER, 'web: POST /graphql', 'web: graphql mutation', 'worker: dataset.refresh'];
  const read = spans.find(({ name, resource }) => name === 'source read' && resource['dws.role'] === 'worker');
  expect(chainOf(spans, read)).toEqual([...request, 'worker: dataset load', 'worker: source read']);
  expect(read).toMatchObject({
    kind: 3,
    attributes: { 'db.system.name': 'postgres', 'db.operation.name': 'read', 'dws.rows': 4 },
  });
  expect(find('POST /graphql')).toMatchObject({
    kind: 2,
    attributes: { 'http.request.method': 'POST', 'http.route': '/graphql', 'http.response.status_code': 200 },
    resource: { 'service.name': 'data-workspace-service', 'dws.role': 'web' },
  });
  expect(find('graphql mutation')!.attributes).toEqual({
    'graphql.operation.type': 'mutation',
    'graphql.operation.name': 'Reload',
  });
  expect(find('dataset.refresh')).toMatchObject({ kind: 5, attributes: { 'dws.operation.attempt': 1 } });
  expect(chainOf(spans, find('dataset.refresh', 'UPSTREAM_FAILED'))).toEqual(request);
  expect(find('graphql mutation', 'UPSTREAM_FAILED')).toBeDefined();
  expect(find('dataset load', 'BAD_USER_INPUT')).toBeDefined();

  expect(chainOf(spans, find('index search'))).toEqual([
    CALLER,
    'web: GET /api/datasets/:id/data',
    'web: index search',
  ]);
  const run = spans.find(({ name, resource }) => name === 'source read' && resource['dws.role'] === 'web');
  expect(chainOf(spans, run)).toEqual([CALLER, 'web: POST /api/datasets/:id/_run', 'web: source read']);
  expect(chainOf(spans, find('mail send'))).toEqual([CALLER, 'web: POST /api/password-reset', 'worker: mail send']);
  expect(find('GET /api/datasets/:id')).toBeDefined();
  expect(spans.find(({ name }) => name === 'GET /api/session')).toMatchObject({ parentSpanId: null, error: null });
  const overSocket = spans.find((span) => span.attributes['graphql.operation.name'] === 'OverSocket');
  expect(overSocket).toMatchObject({ name: 'graphql query', kind: 2, parentSpanId: null });
  const reload = spans.find((span) => span.attributes['graphql.operation.name'] === 'ReloadOverSocket');
  const reloaded = spans.find((span) => span.parentSpanId === reload!.spanId && span.name === 'dataset.refresh');
  expect(chainOf(spans, reloaded)).toEqual([null, 'web: graphql mutation', 'worker: dataset.refresh']);
  expect(spans.filter(({ name }) => /readyz|healthz|metrics/.test(name))).toEqual([]);

  const secrets = [
    LITERAL,
    ADMIN_PASSWORD,
    variables['APP_SECRET']!,
    admin.headers['authorization']!.slice('Bearer '.length),
    session.headers['cookie']!.split('=')[1]!,
    new URL(variables['DATABASE_URL']!).password,
    'secret.person@example.com',
    /password-reset\/([\w-]{43})/.exec(mails.received[0]!.text)![1]!,
  ];
  expect(source).toBeTruthy();
  for (const secret of secrets) expect(collector.text().includes(secret), secret).toBe(false);
});

test('each refresh of an uploaded dataset is in the trace of its own request', async ({
  setup: { variables, collector },
}) => {
  const service = await startProcess(variables);
  const admin = await byToken(await logIn(service.url));
  const { id } = await admin.creates(DATASETS, createForm(ORDERS));
  // The first loader is started by the upload, the others are spares that start when an earlier one has ended.
  const traces = ['1', '2', '3'].map((digit) => digit.repeat(32));
  for (const trace of traces) {
    const caller = admin.with({ traceparent: `00-${trace}-${CALLER}-01` });
    expect(await caller.data(REFRESH, { id })).toEqual({ refreshDataset: { result: { success: true } } });
    await eventually(async () => (await sparesOf(service.pid)).length === 2);
  }
  expect(await service.end('SIGTERM')).toBe(0);

  const { spans } = collector;
  const load = [CALLER, ...['POST /graphql', 'graphql mutation', 'dataset.refresh', 'dataset load'].map(ofAll)];
  for (const trace of traces)
    for (const call of ['source describe', 'source read']) {
      const found = spans.filter((span) => span.traceId === trace && span.name === call);
      expect(found.map((span) => chainOf(spans, span))).toEqual([[...load, ofAll(call)]]);
    }
});

test('calls of an AI provider are in the traces of an image and of a run of an agent, without prompts', async ({
  setup: { variables, collector },
}) => {
  const fake = await startAiFake();
  const service = await startProcess({ ...variables, OUTBOUND_ALLOW: '127.0.0.1' });
  const session = await logIn(service.url);
  await session.creates('/ai-providers', fake.provider);
  const assistant = await session.creates('/assistants', { name: 'Painter' });
  const agent = await session.creates('/agents', { name: 'Clerk', assistantId: assistant.id });
  const admin = (await byToken(session)).with({ traceparent: `00-${TRACE}-${CALLER}-01` });
  const prompts = ['A fox that nobody may see', 'A secret order', 'A confidential reply'];

  expect((await admin.post('/_create-image', { prompt: prompts[0] })).status).toBe(200);
  fake.script.push({ content: prompts[2]!, inputTokens: 120, outputTokens: 7 });
  fake.behaviors.push({ kind: 'image', status: 500 });
  expect((await admin.post(`/agents/${agent.id}/_run`, { payload: prompts[1] })).body.output).toBe(prompts[2]);
  expect((await admin.post('/_create-image', { prompt: prompts[0] })).status).toBe(500);
  expect(await service.end('SIGTERM')).toBe(0);
  await fake.close();

  const { spans } = collector;
  const chains = (name: string) => spans.filter((span) => span.name === name).map((span) => chainOf(spans, span));
  const image = [CALLER, ...['POST /api/_create-image', 'image.create', 'ai image'].map(ofAll)];
  expect(chains('ai image')).toEqual([image, image]);
  expect(spans.filter(({ name }) => name === 'ai image').map(({ error }) => error)).toEqual([null, 'UPSTREAM_FAILED']);
  const run = `POST /api/agents/:id/_run`;
  expect(chains('ai chat')).toEqual([[CALLER, ...[run, 'agent.run', 'ai chat'].map(ofAll)]]);
  expect(spans.find(({ name }) => name === 'ai chat')).toMatchObject({
    kind: 3,
    attributes: {
      'gen_ai.request.model': expect.any(String),
      'gen_ai.usage.input_tokens': 120,
      'gen_ai.usage.output_tokens': 7,
    },
  });
  for (const secret of [...prompts, fake.apiKey]) expect(collector.text().includes(secret), secret).toBe(false);
});

test('runs of agents on events are in the trace of the handler, runs by schedules in their own', async ({
  setup: { variables, collector },
}) => {
  const fake = await startAiFake();
  const service = await startProcess({ ...variables, OUTBOUND_ALLOW: '127.0.0.1' });
  const session = await logIn(service.url);
  await session.creates('/ai-providers', fake.provider);
  const admin = (await byToken(session)).with({ traceparent: `00-${TRACE}-${CALLER}-01` });
  const app = await createApp(admin, 'Emitter', {
    'server/order.js': `export const post = ({ emit }) => emit('order')`,
  });
  expect((await admin.post(`/apps/${app}/_deploy`, {})).status).toBe(200);
  const assistant = await admin.creates('/assistants', { name: 'Clerk' });
  await admin.creates('/agents', { name: 'Clerk', assistantId: assistant.id, ...onEvents(app, 'order') });
  const job = await createJob(admin, { intervalType: 'cron', interval: '0 0 1 1 *', enabled: true });
  await createNotify(admin, job, 'Note');
  await expectStatus(admin.put(job.path, { enabled: true }), 200);

  fake.script.push({ content: 'Done' });
  await expectStatus(admin.post(`/apps/${app}/view/order`, {}), 200);
  const sql = (text: string) => runSql(variables['DATABASE_URL']!, text);
  await sql(`update dws.job set next_run_at = now()`);
  const ended = `select operation from dws.operation where finished_at is not null and operation like '%.run' order by 1`;
  await expect.poll(() => sql(ended)).toEqual([{ operation: 'agent.run' }, { operation: 'job.run' }]);
  expect(await service.end('SIGTERM')).toBe(0);
  await fake.close();

  const { spans } = collector;
  const of = (name: string) => spans.find((span) => span.name === name);
  const request = [CALLER, ofAll('POST /api/apps/:id/view/*')];
  expect(chainOf(spans, of('agent.run'))).toEqual([...request, ofAll('agent.run')]);
  expect(chainOf(spans, of('job.run'))).toEqual([null, ofAll('job due'), ofAll('job.run')]);
  expect(of('job due')).toMatchObject({ kind: 4, attributes: { 'dws.job.id': job.id, 'dws.job.trigger': 'schedule' } });
  expect(of('job due')!.traceId).not.toBe(TRACE);
});

test('a collector that does not respond costs one line in the log', async ({ setup }) => {
  await setup.collector.close();
  const service = await startProcess({ ...setup.variables, ROLE: 'web', OTEL_SERVICE_NAME: 'mine' });
  const admin = await logIn(service.url);
  const failures = () => service.printed().split('accepts no traces').length - 1;
  // Three batches of 512 spans at least, two spans each.
  for (let round = 0; round < 16; round++)
    await Promise.all(Array.from({ length: 50 }, () => admin.data('{ me { username } }')));
  await expect.poll(failures).toBe(1);
  expect(await admin.data('{ me { username } }')).toEqual({ me: { username: 'admin' } });
  expect(await service.end('SIGTERM')).toBe(0);
  expect(failures()).toBe(1);
  expect(service.printed()).not.toContain(setup.collector.url);
});

/** Prints the modules for traces that a process loads, but not those that the client of Elasticsearch loads. */
const PRINT_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    if (/(?<!transport.node_modules.)@opentelemetry.(?!api)|adapters.tracing/.test(url)) console.log('loads ' + url);
    return next(url, context);
  } });
`)}`;

test('without OTEL_EXPORTER_OTLP_ENDPOINT no module of it is loaded', async ({ setup }) => {
  const loadedBy = async (endpoint: string) => {
    const service = await startProcess({
      ...setup.variables,
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      NODE_OPTIONS: `--import=${PRINT_MODULES}`,
    });
    await logIn(service.url);
    expect(await service.end('SIGTERM')).toBe(0);
    return service.printed().split('loads ').length - 1;
  };
  expect(await loadedBy('')).toBe(0);
  expect(await loadedBy(setup.collector.url)).toBeGreaterThan(0);
});
