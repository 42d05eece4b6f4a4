import pg from 'pg';
import { describe, expect } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { GATED, makeMillion } from '../support/million-rows.ts';
import { createJob, createNotify, test as base, type TestJob } from './job-fixture.ts';

type Dataset = Awaited<ReturnType<typeof makeMillion>>;

/** A job with a dataset that waits at its gate. */
interface GatedJob extends TestJob {
  dataset: Dataset;
  openGate(): Promise<void>;
}

/** `gated` creates such a job. */
const test = base.extend<{ gated: (more?: object) => Promise<GatedJob> }>({
  gated: async ({ admin }, use) => {
    const datasets: Dataset[] = [];
    await use(async (more = {}) => {
      const dataset = await makeMillion(admin, GATED);
      datasets.push(dataset);
      const job = await createJob(admin, { type: 'dataset-refresh', datasets: { a: dataset.id }, ...more });
      return { ...job, dataset, openGate: await dataset.closeGate() };
    });
    for (const dataset of datasets) await dataset.drop();
  },
});

const untilRefreshes = ({ dataset }: GatedJob) => eventually(async () => (await dataset.running()).length > 0);
const untilIdle = ({ dataset }: GatedJob) => eventually(async () => (await dataset.running()).length === 0);
const isFree = (client: Client, { path }: TestJob) =>
  expectBody(client.get(path), 200, { lockedAt: null, heartbeat: null });
const historyOf = async (client: Client, { path }: TestJob) =>
  (await client.get(`${path}/history`)).body._embedded['svc:job-history'];

describe('while a job runs', () => {
  test('its deletion cancels the run and its statement in the source', async ({ admin, gated }) => {
    const job = await gated();
    const waiting = admin.post(job.path, { progress: 'deleted' });
    await untilRefreshes(job);
    await expectStatus(admin.delete(job.path), 204);
    await expectError(waiting, 409, 'The operation was cancelled');
    await untilIdle(job);
    await expectBody(admin.get('/progress/deleted'), 200, { status: 'cancelled' });
    await expectStatus(admin.get(`${job.path}/history`), 404);
    await job.openGate();
    // The dataset is free for the next refresh.
    await expectStatus(admin.post(`/datasets/${job.dataset.id}/_refresh`, {}), 200);
  });

  test('a deletion ends the waiting run, too', async ({ service, admin, gated }) => {
    const job = await gated({ data: { overlap: 'queue' }, intervalType: 'simple', interval: '1 hour', enabled: true });
    await expectStatus(admin.post(job.path, {}, { prefer: 'respond-async' }), 202);
    await untilRefreshes(job);
    await service.platform.system.query({
      text: `update dws.job set next_run_at = now() where id = $1`,
      values: [job.id],
    });
    await eventually(async () => (await historyOf(admin, job)).length === 2);
    await expectStatus(admin.delete(job.path), 204);
    await eventually(async () => {
      const operations = await service.platform.system.query<{ status: string }>({
        text: `select status from dws.operation where resource_id = $1`,
        values: [job.id],
      });
      expect(operations).toHaveLength(2);
      return operations.every(({ status }) => status === 'cancelled');
    });
    await job.openGate();
  });

  test('it stays locked until the run that waits has ended', async ({ service, admin, gated }) => {
    const job = await gated({ data: { overlap: 'queue' }, intervalType: 'simple', interval: '1 hour', enabled: true });
    await expectStatus(admin.post(job.path, {}, { prefer: 'respond-async' }), 202);
    await untilRefreshes(job);
    await service.platform.system.query({
      text: `update dws.job set next_run_at = now() where id = $1`,
      values: [job.id],
    });
    await eventually(async () => (await historyOf(admin, job)).length === 2);
    const statuses = async () => (await historyOf(admin, job)).map(({ status }: { status: string }) => status);
    // Keeps the waiting run from starting.
    const blocker = new pg.Client({ connectionString: service.databaseUrl });
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query(`select from dws.operation where resource_id = $1 and status = 'queued' for update`, [job.id]);
    await job.openGate();
    await eventually(async () => (await statuses()).includes('succeeded'));
    expect(await statuses()).toEqual(['queued', 'succeeded']);
    await expectBody(admin.get(job.path), 200, { lockedAt: expect.any(String), heartbeat: expect.any(String) });
    await blocker.end();
    await eventually(async () => (await admin.get(job.path)).body.lockedAt === null);
    expect(await statuses()).toEqual(['succeeded', 'succeeded']);
  });

  test('the commit of its draft changes only later runs', async ({ admin, gated }) => {
    const job = await gated();
    const { id: draftId } = await admin.creates(`${job.path}/_edit`, {});
    const notify = await createNotify(admin, { id: draftId, path: `/jobs/${draftId}` }, 'Later');
    const waiting = admin.post(job.path, {});
    await untilRefreshes(job);
    await expectStatus(admin.post(`/jobs/${draftId}/_commit`, {}), 200);
    await job.openGate();
    const keysOf = ({ history }: { history: { task: { key: string } }[] }) => history.map(({ task }) => task.key);
    expect(keysOf(await expectBody(waiting, 200, { success: true }))).toEqual(['dataset:a']);
    await isFree(admin, job);
    const later = await expectBody(admin.post(job.path, {}), 200, { success: true });
    expect(keysOf(later)).toEqual(['dataset:a', `action:${notify}`]);
  });

  test('the commit of a draft that runs cancels the run of the draft', async ({ admin, gated }) => {
    const job = await gated();
    const { id: draftId } = await admin.creates(`${job.path}/_edit`, {});
    const waiting = admin.post(`/jobs/${draftId}`, {});
    await untilRefreshes(job);
    await expectBody(admin.post(`/jobs/${draftId}/_commit`, {}), 200, { id: job.id, lockedAt: null });
    await expectError(waiting, 409, 'The operation was cancelled');
    await untilIdle(job);
    await job.openGate();
    await expectBody(admin.post(job.path, {}), 200, { success: true });
    expect(await historyOf(admin, job)).toHaveLength(1);
  });

  test('the deletion of its dataset fails the run and frees the job', async ({ admin, gated }) => {
    const job = await gated();
    const waiting = admin.post(job.path, {});
    await untilRefreshes(job);
    await expectStatus(admin.delete(`/datasets/${job.dataset.id}`), 409);
    await expectStatus(admin.delete(`${job.path}/datasets/a`), 204);
    await expectStatus(admin.delete(`/datasets/${job.dataset.id}`), 204);
    await expectBody(waiting, 200, { success: false, history: [{ task: { key: 'dataset:a' } }] });
    await untilIdle(job);
    await job.openGate();
    await isFree(admin, job);
    const [run] = await historyOf(admin, job);
    expect(run).toMatchObject({ status: 'failed', error: expect.not.stringContaining('Something went wrong') });
  });

  test('an action that is changed or deleted before its turn fails and is not executed', async ({ admin, gated }) => {
    const job = await gated();
    const [changed, deleted] = [await createNotify(admin, job, 'Changed'), await createNotify(admin, job, 'Deleted')];
    for (const id of [changed, deleted])
      await admin.creates(`${job.path}/actions/${id}/job-action-run-conditions`, { type: 'always' });
    const waiting = admin.post(job.path, {});
    await untilRefreshes(job);
    const data = { recipients: [admin.username], message: 'Other' };
    await expectStatus(admin.put(`${job.path}/actions/${changed}`, { data }), 200);
    await expectStatus(admin.delete(`${job.path}/actions/${deleted}`), 204);
    await job.openGate();
    await expectBody(waiting, 200, { success: false });
    const [{ history }] = await historyOf(admin, job);
    const errors = history.map(({ result }: { result: { error: string | null } }) => result.error);
    const refused = 'It was changed or deleted after the run had started';
    expect(errors).toEqual([null, refused, refused]);
    await isFree(admin, job);
  });

  test('the loss of a right of the owner takes effect before the next action', async ({ admin, gated, service }) => {
    const carol = await service.user('carol-owner');
    const job = await gated();
    await createNotify(admin, job, 'Later');
    await expectStatus(admin.put(`/datasets/${job.dataset.id}/shares/carol-owner`, { accessLevel: 3 }), 200);
    await service.platform.system.query({
      text: `update dws.job set owner_id = $2 where id = $1`,
      values: [job.id, `user:${carol.id}`],
    });
    const waiting = admin.post(job.path, {});
    await untilRefreshes(job);
    await expectStatus(admin.put('/users/carol-owner', { enabled: false }), 200);
    await job.openGate();
    await waiting;
    const [{ history }] = await historyOf(admin, job);
    expect(history.at(-1).result).toMatchObject({ success: false, error: 'The user carol-owner is disabled' });
  });

  test('a deletion charges what the run has used', async ({ admin, gated }) => {
    const job = await gated();
    const waiting = admin.post(job.path, {});
    await untilRefreshes(job);
    await expectStatus(admin.delete(job.path), 204);
    await waiting;
    await untilIdle(job);
    await job.openGate();
    const { body } = await admin.get('/usage/events?limit=1000');
    const events = body._embedded['svc:usage-event'].filter(
      ({ entityId }: { entityId: string }) => entityId === job.id,
    );
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ metadata: { status: 'cancelled' } });
  });
});
