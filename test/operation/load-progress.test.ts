import pg from 'pg';
import { describe, expect } from 'vitest';
import { LoadProgress } from '../../src/services/operation/load-progress.ts';
import type { Progress } from '../../src/services/operation/operation-repository.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { openSocket } from '../support/follow-operation.ts';
import { beginRefresh, GATED, makeMillion } from '../support/million-rows.ts';
import { collect, eventually } from './fixture.ts';

interface State {
  status: string;
  message: string | null;
  current: number;
  total: number | null;
  percent: number | null;
}

const stateOf = ({ status, message, current, total, percent }: State): State => ({
  status: status.toLowerCase(),
  message,
  current,
  total,
  percent,
});

async function followByEvents(caller: Client, id: string): Promise<State[]> {
  const { body } = await caller.get(`/progress/${id}/events`);
  return [...String(body).matchAll(/^data: (.*)$/gm)].map(([, data]) => stateOf(JSON.parse(data!) as State));
}

async function followBySubscription(caller: Client, id: string): Promise<State[]> {
  const socket = openSocket(caller);
  const query = 'subscription ($id: ID!) { progress(id: $id) { status message current total percent } }';
  const results = await collect(socket.iterate<{ progress: State }>(query, { id }));
  await socket.dispose();
  return results.map(({ data }) => stateOf(data!.progress));
}

/** Waits until a running operation has this phase. Returns its state. */
const untilPhase = (caller: Client, id: string, phase: string): Promise<State> =>
  eventually(async () => {
    const { body } = await caller.get(`/progress/${id}`);
    return body.message === phase && stateOf(body as State);
  });

describe('the progress of a refresh', () => {
  test('has estimated rows and phases, in both APIs', async ({ service, admin }) => {
    const dataset = await makeMillion(admin, GATED);
    await dataset.sql('analyze region');
    // The rows wait at the gate, the result at the locked dataset.
    const openGate = await dataset.closeGate();
    const id = await beginRefresh(admin, dataset.id);
    const following = [followByEvents(admin, id), followBySubscription(admin, id)];
    const reading: State = { status: 'running', message: 'Reading rows', current: 0, total: 4, percent: 0 };
    await eventually(async () => (await untilPhase(admin, id, 'Reading rows')).total !== null);
    expect(await untilPhase(admin, id, 'Reading rows')).toEqual(reading);

    const blocker = new pg.Client({ connectionString: service.databaseUrl });
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('select from dws.dataset where id = $1 for no key update', [dataset.id]);
    await openGate();
    const publishing: State = { status: 'running', message: 'Publishing', current: 4, total: 4, percent: 99 };
    expect(await untilPhase(admin, id, 'Publishing')).toEqual(publishing);
    await blocker.end();

    const succeeded: State = { status: 'succeeded', message: null, current: 4, total: 4, percent: 100 };
    for (const states of await Promise.all(following)) {
      const texts = states.map((state) => JSON.stringify(state));
      expect(texts).toEqual([...new Set(texts)]);
      expect(states).toContainEqual(reading);
      expect(states).toContainEqual(publishing);
      expect(states.at(-1)).toEqual(succeeded);
    }
    await dataset.drop();
  });

  test('expects the rows of the last refresh, and ends with the rows of this one', async ({ admin }) => {
    const dataset = await makeMillion(admin, GATED);
    await admin.creates(`/datasets/${dataset.id}/_refresh`, {});
    await dataset.sql('delete from region where id = 0');
    const openGate = await dataset.closeGate();
    const id = await beginRefresh(admin, dataset.id);
    expect(await untilPhase(admin, id, 'Reading rows')).toMatchObject({ total: 4, percent: 0 });
    await openGate();
    expect((await followByEvents(admin, id)).at(-1)).toMatchObject({ current: 3, total: 3, percent: 100 });

    // The rows of a filtered dataset say nothing about the rows of its query.
    await admin.put(`/datasets/${dataset.id}`, { flow: [{ type: 'limit', n: 1 }] });
    const limited = await beginRefresh(admin, dataset.id);
    expect((await followByEvents(admin, limited)).at(-1)).toMatchObject({ current: 3, total: 3 });
    expect((await admin.get(`/datasets/${dataset.id}`)).body.records).toBe(1);
    await dataset.drop();
  });
});

describe('the progress of a load', () => {
  const updatesOf = (lastRows: number | null, readShare: number, load: (progress: LoadProgress) => void) => {
    const updates: Progress[] = [];
    load(new LoadProgress((update) => updates.push(update), lastRows, readShare));
    return updates;
  };

  test('is half done when all rows for a search engine are read', () => {
    const updates = updatesOf(10, 0.5, (progress) => {
      progress.read(5);
      progress.readAll(8, 'Building the index');
      progress.stored(0.5);
    });
    expect(updates).toEqual([
      { message: 'Reading rows', current: 0, total: 10, percent: 0 },
      { current: 5, total: 10, percent: 25 },
      { message: 'Building the index', current: 8, total: 8, percent: 50 },
      { percent: 75 },
    ]);
  });

  test('has no total while there is no estimate, nor past one that was too low', () => {
    const updates = updatesOf(null, 1, (progress) => {
      progress.read(5);
      progress.estimate(6);
      progress.estimate(6);
      progress.read(9);
      progress.estimate(7);
      progress.estimate(12);
      progress.readAll(10);
    });
    expect(updates).toEqual([
      { message: 'Reading rows', current: 0 },
      { current: 5 },
      { current: 5, total: 6, percent: (100 * 5) / 6 },
      { current: 9, total: null, percent: null },
      { current: 9, total: 12, percent: 75 },
      { current: 10, total: 10, percent: 100 },
    ]);
  });
});
