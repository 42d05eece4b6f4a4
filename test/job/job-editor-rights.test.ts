import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { createJob, test as base, type TestJob } from './job-fixture.ts';

interface EditorFixtures {
  /** A dataset of ann's that bob may read in full and not change. */
  read: { id: string };
  /** A dataset of ann's that bob may change. */
  edited: { id: string };
  /** Creates a job of ann's that bob may edit. */
  edit: (more?: object) => Promise<TestJob>;
}

const test = base.extend<EditorFixtures>({
  read: [async ({ ann, source }, use) => use(await createShared(ann, source.id, 1)), { scope: 'file' }],
  edited: [async ({ ann, source }, use) => use(await createShared(ann, source.id, 2)), { scope: 'file' }],
  edit: [
    async ({ ann, restrictBob }, use) => {
      await restrictBob({ region: 'EU' });
      return use(async (more = {}) => {
        const job = await createJob(ann, more);
        await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);
        return job;
      });
    },
    { scope: 'file' },
  ],
});

async function createShared(ann: Client, datasourceId: string, accessLevel: number): Promise<{ id: string }> {
  const input = { name: `Shared ${accessLevel}`, datasourceId, query: 'select 1 as id', refresh: true };
  const { id } = await ann.creates('/datasets', input);
  await expectStatus(ann.put(`/datasets/${id}/shares/bob`, { accessLevel }), 200);
  return { id };
}

const CREATE = `mutation ($job: ID!, $input: CreateJobActionInput!) {
  createJobAction(jobId: $job, input: $input) { id }
}`;

test.for<[string, object, string, boolean]>([
  ['refresh', {}, 'dataset:refresh', false],
  ['snapshot', {}, 'dataset:copy', true],
  ['snapshot-cleanup', { keep: 0 }, 'dataset:write', false],
])(
  'an editor saves %s of %j for datasets with %s only',
  async ([type, data, permission, forReaders], { ann, bob, orders, read, edited, edit }) => {
    const job = await edit({ datasets: { part: orders.id, full: read.id, own: edited.id } });
    const { path } = job;
    const add = (more: object) => bob.post(`${path}/actions`, { type, name: 'x', data: { ...data, ...more } });
    const message = new RegExp(permission);
    await expectError(add({ datasetId: orders.id }), 403, message);
    await expectError(add({ alias: 'part' }), 403, message);
    const input = { type, name: 'x', data: { ...data, alias: 'part' } };
    await expectGraphqlError(bob.gql(CREATE, { job: job.id, input }), 'FORBIDDEN', message);
    for (const more of [{ datasetId: read.id }, { alias: 'full' }])
      if (forReaders) await expectStatus(add(more), 201);
      else await expectError(add(more), 403, message);
    const { id, data: saved } = await bob.creates(`${path}/actions`, {
      type,
      name: 'x',
      data: { ...data, alias: 'own' },
    });

    const action = `${path}/actions/${id}`;
    await expectError(bob.put(action, { data: { ...data, alias: 'part' } }), 403, message);
    await expectError(bob.put(`${path}/datasets/own`, { datasetId: orders.id }), 403, message);
    await expectBody(bob.get(action), 200, { data: saved });
    await expectBody(bob.get(`${path}/datasets/own`), 200, { datasetId: edited.id });
    // The owner may, and what stays the same is not checked again.
    await expectStatus(ann.put(action, { data: { ...data, datasetId: orders.id } }), 200);
    await expectStatus(bob.put(action, { name: 'y', data: { ...data, datasetId: orders.id, timeout: 5000 } }), 200);
  },
);

test('an editor changes no setting of an action that works on a dataset beyond their rights', async ({
  ann,
  bob,
  orders,
  edit,
}) => {
  const { path } = await edit();
  const data = { datasetId: orders.id, keep: 50 };
  const { id } = await ann.creates(`${path}/actions`, { type: 'snapshot-cleanup', name: 'Clean', data });
  const action = `${path}/actions/${id}`;
  await expectError(bob.put(action, { data: { ...data, keep: 0 } }), 403, /dataset:write/);
  await expectBody(bob.put(action, { data: { ...data, retry: { times: 1 } } }), 200, { data: { keep: 50 } });
});

test('an editor exports datasets that they may read', async ({ ann, bob, orders, read, source, edit }) => {
  const input = { name: 'Hidden', datasourceId: source.id, query: 'select 1 as id' };
  const hidden = await ann.creates('/datasets', input);
  const { path } = await edit({ datasets: { hidden: hidden.id, part: orders.id, full: read.id } });
  const add = (alias: string) =>
    bob.post(`${path}/actions`, { type: 'export', name: 'x', data: { alias, format: 'csv' } });
  await expectError(add('hidden'), 404, `There is no dataset ${hidden.id}`);
  await expectStatus(add('part'), 201);
  await expectStatus(add('full'), 201);
});

test('an editor adds datasets as far as they may refresh them or take snapshots', async ({
  ann,
  bob,
  orders,
  read,
  edited,
  edit,
}) => {
  const [refreshed, plain] = [await edit({ type: 'dataset-refresh' }), await edit()];
  const add = ({ path }: TestJob, alias: string, datasetId: string, when: string | null = null) =>
    bob.post(`${path}/datasets`, { alias, datasetId, snapshots: { when } });
  await expectError(add(refreshed, 'a', orders.id), 403, /dataset:refresh/);
  await expectError(add(refreshed, 'a', read.id), 403, /dataset:refresh/);
  await expectStatus(add(refreshed, 'a', edited.id), 201);
  await expectError(bob.put(`${refreshed.path}/datasets/a`, { datasetId: read.id }), 403, /dataset:refresh/);

  await expectError(add(plain, 'a', orders.id, 'before'), 403, /dataset:copy/);
  await expectStatus(add(plain, 'a', orders.id), 201);
  const dataset = `${plain.path}/datasets/a`;
  await expectError(bob.put(dataset, { snapshots: { when: 'after' } }), 403, /dataset:copy/);
  await expectStatus(add(plain, 'b', read.id, 'after'), 201);
  await expectError(bob.put(`${plain.path}/datasets/b`, { datasetId: orders.id }), 403, /dataset:copy/);
  // The owner may, and what stays the same is not checked again.
  await expectStatus(ann.put(dataset, { snapshots: { when: 'after' } }), 200);
  await expectBody(bob.put(dataset, { alias: 'c', snapshots: { when: 'after' } }), 200, {
    snapshots: { when: 'after' },
  });
});
