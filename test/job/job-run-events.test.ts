import pg from 'pg';
import { describe, expect } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { openSocket } from '../support/follow-operation.ts';
import { GATED, makeMillion } from '../support/million-rows.ts';
import { at } from '../support/service-process.ts';
import { startService } from '../support/service.ts';
import { createJob, createNotify, test as jobTest, type TestJob } from './job-fixture.ts';

type Dataset = Awaited<ReturnType<typeof makeMillion>>;

/** A state of a run, in one form for both APIs. */
interface State {
  status: string;
  error: string | null;
  percent: number | null;
  current: number;
  message: string | null;
  tasks: string[];
  logs: (string | null)[];
}

interface RunRecord {
  status: string;
  error: string | null;
  progress: { percent: number | null; current: number; message: string | null };
  history: { task: { key: string }; result: { error: string | null; log: string | null } }[];
}

const stateOf = ({ status, error, progress: { percent, current, message }, history }: RunRecord): State => ({
  status: status.toLowerCase(),
  error,
  percent,
  current,
  message,
  tasks: history.map(({ task }) => task.key),
  logs: history.flatMap(({ result }) => [result.error, result.log]),
});

/** How a client follows a run: it calls `onState` with each state. Throws the code of an error. */
type Follow = (client: Client, job: TestJob, runId: string, onState?: (state: State) => void) => Promise<State[]>;

const bySocket: Follow = async (client, job, runId, onState) => {
  const socket = openSocket(client);
  const query = `subscription ($jobId: ID!, $runId: ID!) {
    jobRun(jobId: $jobId, runId: $runId) {
      status error progress { percent current message } history { task { key } result { error log } }
    }
  }`;
  const results = socket.iterate<{ jobRun: RunRecord }>(query, { jobId: job.id, runId });
  const states: State[] = [];
  for await (const { data, errors } of results) {
    if (errors) throw new Error(errors[0]!.extensions!['code'] as string);
    states.push(stateOf(data!.jobRun));
    onState?.(states.at(-1)!);
  }
  return states;
};

const eventsOf = ({ path }: TestJob, runId: string) => `${path}/history/${runId}/events`;

const byEvents: Follow = async (client, job, runId, onState) => {
  const response = await fetch(`${client.url}/api${eventsOf(job, runId)}`, { headers: client.headers });
  if (response.status !== 200) throw new Error(((await response.json()) as { code: string }).code);
  const states: State[] = [];
  let lastId = -1;
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, id, data] = /^event: run\nid: (\d+)\ndata: (.*)$/.exec(block) ?? [];
      if (!data) continue;
      expect(Number(id)).toBeGreaterThan(lastId);
      lastId = Number(id);
      states.push(stateOf(JSON.parse(data) as RunRecord));
      onState?.(states.at(-1)!);
    }
  }
  return states;
};

const FOLLOWS = [bySocket, byEvents];

const FINAL = ['succeeded', 'failed', 'cancelled'];

/** Starts a run without waiting for it. Returns its id. */
async function startRun(client: Client, { path }: TestJob): Promise<string> {
  await expectStatus(client.post(path, {}, { prefer: 'respond-async' }), 202);
  return (await client.get(`${path}/history`)).body._embedded['svc:job-history'][0].id;
}

/** A job that refreshes the datasets a and b. Each waits at its gate. */
interface GatedJob extends TestJob {
  a: Dataset;
  b: Dataset;
}

const test = jobTest.extend<{ gated: GatedJob; there: (client: Client) => Client }>({
  gated: [
    async ({ admin }, use) => {
      const [a, b] = [await makeMillion(admin, GATED), await makeMillion(admin, GATED)];
      const job = await createJob(admin, { type: 'dataset-refresh', datasets: { a: a.id, b: b.id } });
      // Their rows are the estimates of later progress.
      await expectBody(admin.post(job.path, {}), 200, { success: true });
      await use({ ...job, a, b });
      await a.drop();
      await b.drop();
    },
    { scope: 'file' },
  ],
  // The same clients at another process, which runs no jobs.
  there: [
    async ({ service }, use) => {
      const web = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
      await use((client) => at(web.url, client));
      await web.close();
    },
    { scope: 'file' },
  ],
});

const share = (admin: Client, { path }: TestJob, user: Client, accessLevel: number) =>
  expectStatus(admin.put(`${path}/shares/${user.username}`, { accessLevel }), 200);

/** Follows a run by both APIs. `latest` are the last states; `ended` what each of them returns. */
function followBoth(client: Client, job: TestJob, runId: string) {
  const latest: (State | undefined)[] = [undefined, undefined];
  const ended = Promise.allSettled(
    FOLLOWS.map((follow, index) =>
      follow(client, job, runId, (state) => {
        latest[index] = state;
      }),
    ),
  );
  return {
    ended,
    /** Waits until both have received such a state. */
    until: (expected: Partial<State>) =>
      eventually(async () =>
        latest.every((state) => {
          const keys = Object.keys(expected) as (keyof State)[];
          return state && keys.every((key) => JSON.stringify(state[key]) === JSON.stringify(expected[key]));
        }),
      ),
  };
}

/** Returns the states that both APIs sent. Fails if one of them ended with an error. */
async function bothStates({ ended }: ReturnType<typeof followBoth>): Promise<State[][]> {
  return (await ended).map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

describe('a run that is followed at another process', () => {
  test('sends its state, the progress of a refresh, the end of each task, and one final state', async ({
    service,
    admin,
    gated,
    there,
  }) => {
    const openA = await gated.a.closeGate();
    const openB = await gated.b.closeGate();
    const runId = await startRun(admin, gated);
    await eventually(async () => (await gated.a.running()).length > 0);
    const following = followBoth(there(admin), gated, runId);
    const first = { status: 'running', percent: 0, current: 0, message: 'Dataset a', tasks: [] };
    await following.until(first);

    // The new rows of a wait for the locked dataset.
    const blocker = new pg.Client({ connectionString: service.databaseUrl });
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('select from dws.dataset where id = $1 for no key update', [gated.a.id]);
    await openA();
    await following.until({ percent: 49.5, tasks: [] });
    await blocker.end();
    await following.until({ percent: 50, current: 1, message: 'Dataset b', tasks: ['dataset:a'] });
    await openB();

    for (const states of await bothStates(following)) {
      expect(states[0]).toMatchObject(first);
      const texts = states.map((state) => JSON.stringify(state));
      expect(texts).toEqual([...new Set(texts)]);
      expect(states.filter(({ status }) => FINAL.includes(status))).toEqual([states.at(-1)]);
      expect(states.at(-1)).toMatchObject({
        status: 'succeeded',
        error: null,
        percent: 100,
        current: 2,
        tasks: ['dataset:a', 'dataset:b'],
        logs: [null, expect.stringMatching(/ Refreshed\n$/), null, expect.stringMatching(/ Refreshed/)],
      });
    }
  });

  test('ends after the cancellation', async ({ admin, gated, there }) => {
    const openA = await gated.a.closeGate();
    const runId = await startRun(admin, gated);
    const following = followBoth(there(admin), gated, runId);
    await following.until({ status: 'running', message: 'Dataset a' });
    await expectStatus(there(admin).post(`${gated.path}/history/${runId}/_cancel`, {}), 200);
    for (const states of await bothStates(following)) {
      expect(states.filter(({ status }) => FINAL.includes(status))).toEqual([states.at(-1)]);
      expect(states.at(-1)).toMatchObject({ status: 'cancelled', error: 'The run was cancelled', tasks: [] });
    }
    // Its statement in the source has ended, too.
    await eventually(async () => (await gated.a.running()).length === 0);
    await openA();
  });

  test('sends one final state even if it ends immediately', async ({ admin, there }) => {
    const job = await createJob(admin);
    await createNotify(admin, job, 'Quick');
    for (let round = 0; round < 20; round++) {
      const runId = await startRun(admin, job);
      for (const states of await bothStates(followBoth(there(admin), job, runId)))
        expect(states.filter(({ status }) => FINAL.includes(status))).toHaveLength(1);
      await eventually(async () => (await admin.get(job.path)).body.lockedAt === null);
    }
  });

  test('sends the final state of an ended run, and 204 to a client that has received it', async ({
    admin,
    gated,
    there,
  }) => {
    await expectBody(admin.post(gated.path, {}), 200, { success: true });
    const { body } = await admin.get(`${gated.path}/history`);
    const runId = body._embedded['svc:job-history'][0].id;
    for (const states of await bothStates(followBoth(there(admin), gated, runId)))
      expect(states).toMatchObject([{ status: 'succeeded' }]);
    const path = eventsOf(gated, runId);
    const events = await there(admin).get(path);
    expect(events.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const id = /^id: (\d+)$/m.exec(events.body)![1]!;
    await expectStatus(there(admin).get(path, { 'last-event-id': id }), 204);
    await expectStatus(there(admin).get(path, { 'last-event-id': String(Number(id) - 1) }), 200);
    await expectStatus(there(admin).get(path, { 'last-event-id': 'first' }), 200);
  });
});

describe('followers of a run', () => {
  test('who name no run follow the unfinished one, else the latest, in GraphQL', async ({ admin, bob, gated }) => {
    const followed = async (client: Client, job: TestJob) => {
      const ids: string[] = [];
      const query = `subscription ($jobId: ID!) { jobRun(jobId: $jobId) { id status } }`;
      const results = openSocket(client).iterate<{ jobRun: { id: string } }>(query, { jobId: job.id });
      for await (const { data, errors } of results) {
        if (errors) throw new Error(errors[0]!.extensions!['code'] as string);
        ids.push(data!.jobRun.id);
      }
      return [...new Set(ids)];
    };
    const job = await createJob(admin);
    await expect(followed(admin, job)).rejects.toThrow('NOT_FOUND');
    await expect(followed(bob, gated)).rejects.toThrow('NOT_FOUND');
    await expectBody(admin.post(job.path, {}), 200, { success: true });
    await expectBody(admin.post(job.path, {}), 200, { success: true });
    const [latest] = (await admin.get(`${job.path}/history`)).body._embedded['svc:job-history'];
    expect(await followed(admin, job)).toEqual([latest.id]);

    const openA = await gated.a.closeGate();
    const runId = await startRun(admin, gated);
    const following = followed(admin, gated);
    await eventually(async () => (await gated.a.running()).length > 0);
    await openA();
    expect(await following).toEqual([runId]);
  });

  test('need access to the job', async ({ admin, bob, stranger, anonymous, gated }) => {
    const other = await createJob(admin);
    const [{ id: runId }] = (await admin.get(`${gated.path}/history`)).body._embedded['svc:job-history'];
    for (const follow of FOLLOWS) {
      await expect(follow(stranger, gated, runId)).rejects.toThrow('NOT_FOUND');
      await expect(follow(bob, gated, runId)).rejects.toThrow('NOT_FOUND');
      await expect(follow(admin, other, runId)).rejects.toThrow('NOT_FOUND');
      await expect(follow(admin, gated, gated.id)).rejects.toThrow('NOT_FOUND');
      await expect(follow(admin, gated, 'first')).rejects.toThrow('NOT_FOUND');
    }
    await expectStatus(anonymous.get(eventsOf(gated, runId)), 401);
  });

  test('see errors and logs with job:run only', async ({ admin, ann, bob }) => {
    const dataset = await makeMillion(admin, 'select missing from region');
    const job = await createJob(admin, { type: 'dataset-refresh', datasets: { a: dataset.id } });
    await share(admin, job, bob, 1);
    await share(admin, job, ann, 2);
    await expectBody(admin.post(job.path, {}), 200, { success: false });
    const [{ id: runId }] = (await admin.get(`${job.path}/history`)).body._embedded['svc:job-history'];
    for (const [client, error, logs] of [
      [ann, expect.any(String), [expect.any(String), expect.any(String)]],
      [bob, null, [null, null]],
    ] as const)
      for (const states of await bothStates(followBoth(client, job, runId)))
        expect(states).toEqual([expect.objectContaining({ status: 'failed', error, logs, tasks: ['dataset:a'] })]);
    await dataset.drop();
  });

  test('who lose a part of their access while it runs see no further logs', async ({ admin, bob, gated, there }) => {
    const openB = await gated.b.closeGate();
    await share(admin, gated, bob, 2);
    const runId = await startRun(admin, gated);
    const following = followBoth(there(bob), gated, runId);
    await following.until({ tasks: ['dataset:a'], message: 'Dataset b' });
    await share(admin, gated, bob, 1);
    await openB();
    for (const states of await bothStates(following)) {
      expect(states).toContainEqual(expect.objectContaining({ logs: [null, expect.any(String)] }));
      expect(states.at(-1)).toMatchObject({ status: 'succeeded', logs: [null, null, null, null] });
    }
  });

  test('who lose their access while it runs get no further states', async ({ admin, bob, gated, there }) => {
    const openA = await gated.a.closeGate();
    await share(admin, gated, bob, 1);
    const runId = await startRun(admin, gated);
    const following = followBoth(there(bob), gated, runId);
    await following.until({ status: 'running', message: 'Dataset a' });
    await expectStatus(admin.delete(`${gated.path}/shares/bob`), 204);
    await openA();
    const [socket, events] = await following.ended;
    expect(socket).toMatchObject({ status: 'rejected', reason: [{ extensions: { code: 'NOT_FOUND' } }] });
    // The stream is cut off, and a new one is not found.
    expect(events).toMatchObject({ status: 'rejected', reason: { message: 'terminated' } });
    await expectStatus(there(bob).get(eventsOf(gated, runId)), 404);
    await eventually(async () => (await admin.get(gated.path)).body.lockedAt === null);
  });
});
