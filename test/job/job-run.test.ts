import { describe, expect } from 'vitest';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { createJob } from './job-fixture.ts';
import { createNotify, latestRun, test } from './job-run-fixture.ts';

const RUN = '{ operation { status } result { runId success history { task { key } result { key success } } } }';

const entry = (key: string, success: boolean) => ({ task: { key }, result: { key, success } });

test('a run executes the actions in their order and returns the specified result', async ({ ann }) => {
  const job = await createJob(ann);
  const [first, second] = [await createNotify(ann, job, 'First'), await createNotify(ann, job, 'Second')];
  await expectStatus(ann.post(`${job.path}/_job-action-order`, { actions: [second, first] }), 200);
  const { status, body } = await ann.post(job.path, {});
  expect(status).toBe(200);
  expect(body).toEqual({
    success: true,
    duration: expect.toSatisfy(Number.isInteger),
    history: [entry(`action:${second}`, true), entry(`action:${first}`, true)],
  });
  const { runJob } = await ann.data(`mutation ($id: ID!) { runJob(id: $id) ${RUN} }`, { id: job.id });
  expect(runJob.operation.status).toBe('SUCCEEDED');
  expect(runJob.result.history).toEqual(body.history);
  const { body: history } = await ann.get(`${job.path}/history`);
  expect(history._embedded['svc:job-history'][0].id).toBe(runJob.result.runId);
  expect(history).toMatchObject({ count: 2, total: 2 });
  await expectBody(ann.get(`${job.path}/history/${runJob.result.runId}`), 200, {
    jobId: job.id,
    trigger: 'manual',
    status: 'succeeded',
    success: true,
    error: null,
    isDraft: false,
    dueAt: null,
    progress: { percent: 100, current: 2, total: 2 },
  });
  await expectBody(ann.get(job.path), 200, { lockedAt: null, heartbeat: null, enabled: false });
});

test('a job without tasks succeeds', async ({ ann }) => {
  await expectBody(ann.post((await createJob(ann)).path), 200, { success: true, history: [] });
});

test('dataset-refresh refreshes its datasets in their order, with snapshots, before its actions', async ({
  ann,
  orders,
  switched,
}) => {
  await switched.set('works');
  const job = await createJob(ann, {
    type: 'dataset-refresh',
    datasets: {
      second: { datasetId: switched.id, snapshots: { when: 'after' } },
      first: { datasetId: orders.id, snapshots: { when: 'before' } },
    },
  });
  const action = await createNotify(ann, job, 'Done');
  const before = (await ann.get(orders.path)).body.dataUpdatedAt;
  const { body } = await ann.post(job.path);
  expect(body.history).toEqual([
    entry('dataset:second', true),
    entry('dataset:first', true),
    entry(`action:${action}`, true),
  ]);
  const after = (await ann.get(orders.path)).body.dataUpdatedAt;
  expect(after > before).toBe(true);
  const dateOf = async (path: string) => {
    const { body: list } = await ann.get(`${path}/snapshot-list`);
    const snapshots: { snapshotDate: string }[] = list._embedded['svc:snapshot'];
    return snapshots
      .map(({ snapshotDate }) => snapshotDate)
      .toSorted()
      .at(-1)!;
  };
  expect((await dateOf(orders.path)) < after).toBe(true);
  expect((await dateOf(switched.path)) > (await ann.get(switched.path)).body.dataUpdatedAt).toBe(true);
});

describe('conditions', () => {
  test('decide by the run so far whether an action runs', async ({ ann, orders, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('fails');
    const ids = new Map<string, string>();
    const add = async (name: string, ...conditions: object[]) => {
      const id = await createNotify(ann, job, name);
      ids.set(`action:${id}`, name);
      for (const condition of conditions)
        await ann.creates(`${job.path}/actions/${id}/job-action-run-conditions`, condition);
    };
    const count = (op: string, rows: number) => ({
      type: 'criteria',
      data: { datasetId: orders.id, criteria: { region: 'EU' }, op, count: rows },
    });
    await add('without');
    await add('success', { type: 'success' });
    await add('failure', { type: 'failure' });
    await add('always', { type: 'always' });
    await add('failure and five', { type: 'failure' }, count('eq', 5));
    await add('failure and six', { type: 'failure' }, count('gte', 6));
    await add('success and five', { type: 'success' }, count('eq', 5));
    await add('five', count('lte', 5));
    const ranNames = async () => {
      const { body } = await ann.post(job.path);
      expect(body.history[0].task.key).toBe(job.key);
      return body.history.slice(1).map(({ task }: { task: { key: string } }) => ids.get(task.key));
    };
    expect(await ranNames()).toEqual(['failure', 'always', 'failure and five', 'five']);
    await switched.set('works');
    expect(await ranNames()).toEqual(['without', 'success', 'always', 'success and five', 'five']);
  });

  test('fail the action if their rows cannot be counted', async ({ ann, orders, service }) => {
    const job = await createJob(ann);
    const id = await createNotify(ann, job, 'Counted');
    await ann.creates(`${job.path}/actions/${id}/job-action-run-conditions`, {
      type: 'criteria',
      data: { datasetId: orders.id, criteria: { region: 'EU' }, op: 'eq', count: 5 },
    });
    await service.platform.system.query({
      text: `update dws.job_action_condition set data = jsonb_set(data, '{criteria}', '{"gone": 1}')
        where job_action_id = $1`,
      values: [id],
    });
    await expectBody(ann.post(job.path), 200, { success: false, history: [entry(`action:${id}`, false)] });
    expect((await latestRun(ann, job)).error).toBe('Counted: Unknown field "gone"');
  });
});

describe('a failed action', () => {
  test('fails the run, not the call, and the operation has the result', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('fails');
    await expectBody(ann.post(job.path, { progress: 'failing' }), 200, {
      success: false,
      history: [entry(job.key, false)],
    });
    const error = 'Refresh: The refresh of the dataset failed: its lastRefresh has the reason';
    await expectBody(ann.get('/progress/failing'), 200, {
      operation: 'job.run',
      resource: { kind: 'job', id: job.id },
      status: 'failed',
      result: { success: false, history: [entry(job.key, false)] },
      error: { statusCode: 500, code: 'UPSTREAM_FAILED', message: error },
    });
    expect(await latestRun(ann, job)).toMatchObject({ status: 'failed', success: false, error });
    await expectBody(ann.get(switched.path), 200, { lastRefresh: { success: false, error: /division by zero/ } });
  });

  test('is repeated as often as it says, with growing delays', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob({ retry: { times: 2, delay: 300 } });
    await switched.set('fails');
    await ann.post(job.path);
    const { status, history } = await latestRun(ann, job);
    expect(status).toBe('failed');
    expect(history).toHaveLength(1);
    const { attempts, duration, log } = history[0].result;
    expect(attempts).toBe(3);
    expect(duration).toBeGreaterThanOrEqual(900);
    expect(log).toMatch(/Attempt 1 failed: .*The next one is in 300 ms\.\n.*Attempt 2 failed: .*in 600 ms\./);

    await switched.set('works');
    await expectBody(ann.post(job.path), 200, { success: true });
    expect((await latestRun(ann, job)).history[0].result.attempts).toBe(1);
  });

  test('that takes too long is ended, down to the statement in the source', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob({ timeout: 2000 });
    await switched.set('waits');
    await expectBody(ann.post(job.path), 200, { success: false, history: [entry(job.key, false)] });
    expect((await latestRun(ann, job)).error).toBe('Refresh: It took longer than 2000 ms');
    await expect.poll(() => switched.waiting()).toBe(0);
  });
});

describe('a job that runs', () => {
  test('is locked, and a second run is 409', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('waits');
    const first = ann.post(job.path, { progress: 'first' });
    await expect.poll(() => switched.waiting()).toBe(1);
    const { lockedAt, heartbeat } = (await ann.get(job.path)).body;
    expect(Math.abs(Date.now() - Date.parse(lockedAt))).toBeLessThan(60_000);
    expect(heartbeat >= lockedAt).toBe(true);
    await expectError(ann.post(job.path), 409, 'Job is already running');
    await expectBody(ann.get(`${job.path}/history`), 200, { total: 1 });
    await expectStatus(ann.delete('/progress/first'), 202);
    await expectError(first, 409);
    await expectBody(ann.get(job.path), 200, { lockedAt: null, heartbeat: null });
  });

  test('is started once by ten calls at the same time', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('waits');
    const pending = Array.from({ length: 10 }, () => ann.post(job.path));
    await expect.poll(() => switched.waiting()).toBe(1);
    // The others ended while the run waits.
    let ended = 0;
    for (const one of pending) void one.then(() => (ended += 1));
    await expect.poll(() => ended).toBe(9);
    await switched.release();
    const responses = await Promise.all(pending);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
    await expectBody(ann.get(`${job.path}/history`), 200, { total: 1 });
  });
});

test('Prefer: respond-async returns the operation immediately', async ({ ann }) => {
  const job = await createJob(ann);
  const { status, body, headers } = await ann.post(job.path, {}, { prefer: 'respond-async' });
  expect(status).toBe(202);
  expect(body).toMatchObject({ operation: 'job.run', resource: { kind: 'job', id: job.id } });
  expect(headers.get('location')).toBe(`/api/progress/${body.id}`);
  await expect.poll(async () => (await latestRun(ann, job)).status).toBe('succeeded');
});

test('a draft runs with its own actions, its runs are marked and vanish with it', async ({ ann, refreshJob }) => {
  const job = await refreshJob();
  const { body: draft } = await ann.post(`${job.path}/_edit`);
  const path = `/jobs/${draft.id}`;
  await createNotify(ann, { id: draft.id, path }, 'Only in the draft');
  const { body } = await ann.post(path);
  expect(body).toMatchObject({ success: true });
  expect(body.history).toHaveLength(2);
  await expectBody(ann.get(`${path}/history`), 200, { total: 1 });
  expect(await latestRun(ann, { id: draft.id, path })).toMatchObject({ isDraft: true, jobId: draft.id });
  await expectBody(ann.get(`${job.path}/history`), 200, { total: 0 });
  const { id } = await latestRun(ann, { id: draft.id, path });
  await expectStatus(ann.post(`${path}/_commit`), 200);
  const { errors } = await ann.gql(`query ($id: ID!) { node(id: $id) { id } }`, { id });
  expect(errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
});

test('the log of a task has at most 64 KB', async () => {
  const { RunLog } = await import('../../src/services/job/run-log.ts');
  const log = new RunLog();
  for (let line = 0; line < 5000; line++) log.add(`Zoë ${line} ${'x'.repeat(20)}`);
  const text = log.toString();
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
  expect(Buffer.byteLength(text)).toBeGreaterThan(65_000);
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z Zoë 0 x+\n/);
  expect(text.endsWith('… The rest of the log was left out.')).toBe(true);
});

test('an action whose alias names another dataset since the run started is not executed', async ({
  ann,
  orders,
  refreshJob,
  switched,
}) => {
  const job = await refreshJob({ timeout: 60_000 }, { datasets: { lines: orders.id } });
  const id = (await ann.creates(`${job.path}/actions`, { type: 'refresh', name: 'By alias', data: { alias: 'lines' } }))
    .id;
  await ann.creates(`${job.path}/actions/${id}/job-action-run-conditions`, { type: 'always' });
  await switched.set('waits');
  const pending = ann.post(job.path);
  await expect.poll(() => switched.waiting()).toBe(1);
  await expectStatus(ann.put(`${job.path}/datasets/lines`, { datasetId: switched.id }), 200);
  await switched.set('works');
  await switched.release();
  await expectBody(pending, 200, { success: false, history: [entry(job.key, false), entry(`action:${id}`, false)] });
  const [, second] = (await latestRun(ann, job)).history;
  expect(second.result.error).toBe('It was changed or deleted after the run had started');
  await expectBody(ann.post(job.path), 200, {
    success: true,
    history: [entry(job.key, true), entry(`action:${id}`, true)],
  });
});
