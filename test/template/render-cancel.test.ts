import { expect } from 'vitest';
import type { TemplateEngine } from '../../src/core/template-engine.ts';
import { eventually } from '../operation/fixture.ts';
import { startWorkerProcess, type WorkerProcess } from '../operation/processes.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createForm, ORDERS } from '../support/upload-form.ts';
import { createRenderable, render, type TestTemplate } from './render-fixture.ts';

/** A table that takes the browser several seconds to print. */
const LONG = `<table>{% for i in range(0, 4000) %}<tr><td>{{ i }}</td><td>{{ i * i }}</td><td>row</td></tr>{% endfor %}</table>`;

const createLong = (owner: Client): Promise<TestTemplate> =>
  createRenderable(owner, { files: { 'long.njk': LONG, 'short.njk': 'short' } }, { handler: 'pdf' });

/** Waits until the operation prints. */
const untilPrinting = (caller: Client, operation: string): Promise<unknown> =>
  eventually(async () => {
    const { status, message } = (await caller.get(`/progress/${operation}`)).body;
    expect(['queued', 'running']).toContain(status);
    return message === 'Printing';
  });

/** Renders another file of the template. Returns the beginning of the document. */
async function renderShort(caller: Client, { path }: TestTemplate): Promise<string> {
  const files = (await caller.get(`${path}/files`)).body._embedded['svc:template-file'];
  const { id: templateFileId } = files.find(({ filename }: { filename: string }) => filename === 'short.njk');
  const { bytes, status } = await render(caller, path, { templateFileId });
  return `${status} ${bytes.subarray(0, 5).toString()}`;
}

const renditionsIn = (service: Service): Promise<unknown[]> => systemQuery(service, 'select id from dws.rendition');

base(
  'a PDF that is cancelled in the middle ends, leaves nothing, and the next one is right',
  async ({ ann, service }) => {
    const template = await createLong(ann);
    const waiting = ann.post(`${template.path}/_render`, { progress: 'long' });
    await eventually(async () => (await ann.get('/progress/long')).status === 200);
    await untilPrinting(ann, 'long');
    await expectStatus(ann.delete('/progress/long'), 202);
    await expectError(waiting, 409, 'The operation was cancelled');
    expect((await ann.get('/progress/long')).body).toMatchObject({ status: 'cancelled', error: { code: 'CANCELLED' } });
    expect(await renderShort(ann, template)).toBe('200 %PDF-');
    expect(await renditionsIn(service)).toHaveLength(1);
  },
);

base('a preview that is cancelled in the middle ends', async ({ bob }) => {
  const template = await createLong(bob);
  const waiting = bob.post(`${template.path}/_render`, { preview: true, progress: 'look' });
  await eventually(async () => (await bob.get('/progress/look')).status === 200);
  await untilPrinting(bob, 'look');
  await expectStatus(bob.delete('/progress/look'), 202);
  await expectError(waiting, 409, 'The operation was cancelled');
  expect((await bob.get(`${template.path}/renditions`)).body.total).toBe(0);
});

base('renderings take no places of other operations', async () => {
  const service = await startService({ WORKER_CONCURRENCY: '1' });
  const released = Promise.withResolvers<void>();
  try {
    const engines = service.platform.templateEngines as Map<string, TemplateEngine>;
    const engine = engines.get('nunjucks')!;
    engines.set('nunjucks', {
      ...engine,
      async render(task) {
        await released.promise;
        return engine.render(task);
      },
    });
    const user = await service.user('uma');
    const { path } = await createRenderable(user, { files: { 'short.njk': 'short' } });
    const { body } = await user.post(`${path}/_render`, {}, { prefer: 'respond-async' });
    const record = async () => (await user.get(`/progress/${body.id}`)).body;
    await eventually(async () => (await record()).message === 'Rendering');
    // The rows are loaded by an operation.
    const loaded = await user.request('POST', '/api/datasets/_upload', createForm(ORDERS));
    expect(loaded).toMatchObject({ status: 201, body: { records: 3 } });
    expect((await record()).status).toBe('running');
    released.resolve();
    await eventually(async () => (await record()).status === 'succeeded');
  } finally {
    released.resolve();
    await service.close();
  }
});

/** A service whose operations run in other processes. */
const test = base.extend<{ web: Service; startWorker: () => Promise<WorkerProcess> }>({
  web: async ({}, use) => {
    const service = await startService({ ROLE: 'web' });
    await use(service);
    await service.close();
  },
  startWorker: async ({ web }, use) => {
    const workers: WorkerProcess[] = [];
    await use(async () => {
      const { DATA_DIR: dataDir } = web.platform.config;
      const worker = await startWorkerProcess({ url: web.databaseUrl, dataDir, handlers: 'real' });
      workers.push(worker);
      return worker;
    });
    for (const worker of workers) await worker.kill('SIGKILL');
  },
});

const attemptsOf = async (web: Service): Promise<number> =>
  (await systemQuery<{ attempt: number }>(web, 'select attempt from dws.operation'))[0]!.attempt;

test('a rendering whose worker is killed starts again elsewhere, once', async ({ web, startWorker }) => {
  const user = await web.user('uma');
  const template = await createLong(user);
  const first = await startWorker();
  const { body } = await user.post(`${template.path}/_render`, {}, { prefer: 'respond-async' });
  await untilPrinting(user, body.id);
  await first.kill('SIGKILL');
  await startWorker();
  const ended = await eventually(async () => {
    const record = (await user.get(`/progress/${body.id}`)).body;
    return record.finishedAt && record;
  });
  expect(ended).toMatchObject({ status: 'succeeded', error: null });
  expect(await attemptsOf(web)).toBe(2);
  expect(await renditionsIn(web)).toHaveLength(1);
});

test('a rendering that ends two workers fails', async ({ web, startWorker }) => {
  const user = await web.user('uma');
  const template = await createLong(user);
  const { body } = await user.post(`${template.path}/_render`, {}, { prefer: 'respond-async' });
  for (const attempt of [1, 2]) {
    const worker = await startWorker();
    await eventually(async () => (await attemptsOf(web)) === attempt);
    await untilPrinting(user, body.id);
    await worker.kill('SIGKILL');
  }
  await startWorker();
  const failed = await eventually(async () => {
    const record = (await user.get(`/progress/${body.id}`)).body;
    return record.status === 'failed' && record;
  });
  expect(failed.error).toMatchObject({ statusCode: 500, code: 'INTERNAL' });
  expect(await attemptsOf(web)).toBe(2);
  expect(await renditionsIn(web)).toEqual([]);
});
