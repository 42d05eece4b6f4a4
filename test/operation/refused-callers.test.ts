import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DatabaseUnavailable } from '../../src/core/database-unavailable.ts';
import { newId } from '../../src/core/id.ts';
import { checkCallers } from '../../src/operations/caller-check.ts';
import { createApp } from '../app/app-fixture.ts';
import { createJob, createNotify } from '../job/job-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { startService, type Service } from '../support/service.ts';
import { createForm, DATASETS } from '../support/upload-form.ts';
import { createRenderable } from '../template/render-fixture.ts';

/** How a user who had a share with the level Admin loses the right to have work done. */
const REVOCATIONS = {
  disabled: async ({ admin }: World, user: string) => admin.put(`/users/${user}`, { enabled: false }),
  locked: async ({ admin }: World, user: string) => admin.put(`/users/${user}`, { locked: true }),
  unshared: async ({ ann, resources }: World, user: string) => {
    for (const path of Object.values(resources)) await ann.delete(`${path}/shares/${user}`);
  },
} satisfies Record<string, (world: World, user: string) => Promise<unknown>>;

/** A request that starts each kind of operation. */
const REQUESTS: Record<string, (resources: Resources) => [path: string, body?: object]> = {
  'dataset.refresh': ({ dataset }) => [`${dataset}/_refresh`],
  'dataset.benchmark': ({ dataset }) => [`${dataset}/_benchmark`],
  'dataset.snapshot': ({ dataset }) => [`${dataset}/snapshots`, { name: 'Snapshot' }],
  'dataset.copy': ({ dataset }) => [`${dataset}/copy`, { name: 'Copy' }],
  'job.run': ({ job }) => [job],
  'app.deploy': ({ app }) => [`${app}/_deploy`],
  'app.migrate': ({ app }) => [`${app}/_migrate`],
  'template.render': ({ template }) => [`${template}/_render`],
};

interface Resources {
  dataset: string;
  job: string;
  app: string;
  template: string;
}

interface World {
  admin: Client;
  ann: Client;
  resources: Resources;
}

let service: Service;
let folder: string;
let world: World;

/** Starts a worker for the service, which has none of its own, while `work` runs. */
async function withWorker<T>(work: () => Promise<T>): Promise<T> {
  const worker = await startService({ DATA_DIR: folder }, { databaseUrl: service.databaseUrl });
  try {
    return await work();
  } finally {
    await worker.close();
  }
}

interface Ended extends Record<string, unknown> {
  operation: string;
  status: string;
  code: string | null;
}

const operationsOf = (userId: string): Promise<Ended[]> =>
  service.platform.system.query<Ended>({
    text: `select operation, status, error->>'code' as code from dws.operation where user_id = $1 order by operation`,
    values: [userId],
  });

async function endedOperationsOf(userId: string): Promise<Ended[]> {
  await expect
    .poll(async () => (await operationsOf(userId)).filter(({ status }) => /queued|running/.test(status)))
    .toEqual([]);
  return operationsOf(userId);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dws-callers-'));
  service = await startService({ ROLE: 'web', DATA_DIR: folder });
  const admin = await service.user('admin', { superuser: true });
  const ann = await service.user('ann', { superuser: true });
  await withWorker(async () => {
    const dataset = await expectBody(ann.post(DATASETS, createForm('i\n1\n', 'numbers.csv')), 201, {});
    const job = await createJob(ann);
    await createNotify(ann, job, 'Notify');
    const app = await createApp(ann, 'Orders', { 'server/index.js': 'export const GET = () => 1;' });
    const template = await createRenderable(ann, { files: { 'report.md': '# Report' } });
    const resources = {
      dataset: `/datasets/${dataset.id}`,
      job: job.path,
      app: `/apps/${app}`,
      template: template.path,
    };
    world = { admin, ann, resources };
  });
});

afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Creates a user with the level Admin on all resources. */
async function createSharer(name: string): Promise<Client> {
  const user = await service.user(name);
  for (const path of Object.values(world.resources))
    await expectBody(world.ann.put(`${path}/shares/${name}`, { accessLevel: 3 }), 200, {});
  return user;
}

describe.each(Object.entries(REVOCATIONS))('operations that wait for a worker', (name, revoke) => {
  test(`are cancelled when their caller was ${name} while they waited`, async () => {
    const carol = await createSharer(`carol-${name}`);
    for (const [operation, request] of Object.entries(REQUESTS)) {
      const [path, body] = request(world.resources);
      const { status } = await carol.post(path, body, { prefer: 'respond-async' });
      expect([operation, status]).toEqual([operation, 202]);
    }
    await revoke(world, carol.username);
    const ended = await withWorker(() => endedOperationsOf(carol.id));
    const code = name === 'unshared' ? 'NOT_FOUND' : 'FORBIDDEN';
    expect(ended).toEqual(
      Object.keys(REQUESTS)
        .toSorted()
        .map((operation) => ({ operation, status: 'cancelled', code })),
    );
  });
});

test('work that several callers share is done for those who still may have it done', async () => {
  const dora = await createSharer('dora');
  const [path] = REQUESTS['dataset.refresh']!(world.resources);
  const request = (caller: Client) => caller.post(path, undefined, { prefer: 'respond-async' });
  const [first, second] = [await request(dora), await request(world.ann)];
  expect([first.status, second.status]).toEqual([202, 202]);
  await world.ann.delete(`${world.resources.dataset}/shares/dora`);
  await withWorker(async () => {
    await endedOperationsOf(dora.id);
    await endedOperationsOf(world.ann.id);
  });
  expect(await dora.get(`/progress/${first.body.id}`)).toMatchObject({
    status: 200,
    body: { status: 'failed', result: null, error: { statusCode: 404, code: 'NOT_FOUND' } },
  });
  expect(await world.ann.get(`/progress/${second.body.id}`)).toMatchObject({
    status: 200,
    body: { status: 'succeeded', result: { records: 1 }, error: null },
  });
});

test('a database that does not respond refuses no caller', async () => {
  const fail = () => Promise.reject(new DatabaseUnavailable(new Error('lost')));
  const platform = { database: { query: async () => [{ userId: newId() }] }, system: { query: fail } };
  const claim = { tenantId: newId(), workId: newId(), input: {}, operation: 'dataset.refresh' };
  await expect(checkCallers(platform as never, claim as never)).rejects.toBeInstanceOf(DatabaseUnavailable);
});
