import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { keepSpares } from '../../src/adapters/process/spare-process.ts';
import { childrenOf } from '../operation/refreshable.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { isAlive, queryProcesses, rejectionOf, sparesOf, waitUntil } from '../support/uploaded-source.ts';
import { SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { files, openSmallFile, upload } = useUploads();

/** Waits for the only spare and returns its process id. */
async function onlySpare(parent?: number): Promise<number> {
  let found: number[] = [];
  await waitUntil(async () => (found = await sparesOf(parent)).length === 1);
  return found[0]!;
}

/** A query that runs until it is aborted. */
const SILENT_QUERY = 'select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 9';

describe('a spare query process', () => {
  let endSpares: () => void;
  beforeEach(async () => {
    endSpares = keepSpares();
    // The first spare follows the first task.
    await (await openSmallFile()).query(SELECT_ALL);
  });
  afterEach(async () => {
    vi.useRealTimers();
    endSpares();
    await waitUntil(async () => (await childrenOf(process.pid)).filter(isAlive).length === 0);
  });

  test('runs the task of one connection and ends with it, and another one follows', async () => {
    const [first, second] = [await openSmallFile(), await openSmallFile()];
    const seen = [];
    for (const file of [first, second, first]) {
      const spare = await onlySpare();
      seen.push(spare);
      const stop = new AbortController();
      const outcome = rejectionOf(file.connection.query(boundQuery(SILENT_QUERY), 1, stop.signal));
      // The spare is what runs the query.
      await waitUntil(() => queryProcesses().includes(spare));
      expect(queryProcesses()).toEqual([spare]);
      stop.abort();
      expect(await outcome).toMatchObject({ code: 'CANCELLED' });
      expect(isAlive(spare)).toBe(false);
    }
    expect(new Set(seen).size).toBe(3);
  });

  test('is not shared by tasks that start at the same time', async () => {
    const file = await openSmallFile();
    await onlySpare();
    const stop = new AbortController();
    const outcomes = [1, 2, 3].map(() => rejectionOf(file.connection.query(boundQuery(SILENT_QUERY), 1, stop.signal)));
    await waitUntil(() => queryProcesses().length === 3);
    expect(await sparesOf()).toEqual([]);
    stop.abort();
    for (const outcome of outcomes) expect(await outcome).toMatchObject({ code: 'CANCELLED' });
    await onlySpare();
    await waitUntil(() => queryProcesses().length === 0);
  });

  test('describes a query and reads its rows in the same process, which no other query gets', async () => {
    const { connection } = await openSmallFile();
    const spare = await onlySpare();
    const columns = await connection.describe(boundQuery(SELECT_ALL), neverAborted);
    expect([columns.length > 0, queryProcesses()]).toEqual([true, [spare]]);
    const other = rejectionOf(connection.query(boundQuery(SILENT_QUERY, [], 700), 10, neverAborted));
    await waitUntil(() => queryProcesses().length === 2);
    await other;
    expect(isAlive(spare)).toBe(true);
    let rows = 0;
    for await (const segment of connection.segments(boundQuery(SELECT_ALL), files.segments, neverAborted)) {
      rows += segment.rows;
    }
    expect([rows > 0, isAlive(spare)]).toEqual([true, false]);
  });

  test('ends with the connection when only a description was asked for', async () => {
    const { connection } = await openSmallFile();
    const spare = await onlySpare();
    await connection.describe(boundQuery(SELECT_ALL), neverAborted);
    expect(queryProcesses()).toEqual([spare]);
    await connection.close();
    expect(isAlive(spare)).toBe(false);
  });

  test('that recognised a small file runs the next task on it, and no task on another file', async () => {
    const file = await openSmallFile();
    const spare = await onlySpare();
    const { file: recognised } = await upload('i,s\n1,one\n');
    expect(queryProcesses()).toEqual([spare]);
    await file.query(SELECT_ALL);
    expect(isAlive(spare)).toBe(true);
    expect((await recognised.query(SELECT_ALL)).rows).toEqual([{ i: 1, s: 'one' }]);
    expect(isAlive(spare)).toBe(false);
  });

  test('that recognised a small file ends when no task on it follows for five seconds', async () => {
    const spare = await onlySpare();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await upload('i,s\n1,one\n');
    vi.advanceTimersByTime(4_999);
    expect(queryProcesses()).toEqual([spare]);
    vi.advanceTimersByTime(1);
    await waitUntil(() => !isAlive(spare));
    expect(await onlySpare()).not.toBe(spare);
  });

  test('that recognised a large file ends immediately', async () => {
    const spare = await onlySpare();
    await upload(`i,s\n${'1,one\n'.repeat(200_000)}`);
    expect(isAlive(spare)).toBe(false);
  });

  test('is replaced after its death', async () => {
    const file = await openSmallFile();
    const dead = await onlySpare();
    process.kill(dead, 'SIGKILL');
    // Until this process has received its status.
    await waitUntil(() => !existsSync(`/proc/${dead}`));
    expect((await file.query(SELECT_ALL)).rows.length).toBeGreaterThan(0);
    expect(await onlySpare()).not.toBe(dead);
  });

  test('has the limits and the priority of any query process', async () => {
    const file = await openSmallFile();
    expect(getPriority(await onlySpare())).toBe(5);
    await expect(file.query('select list(range) from range(1000000000)')).rejects.toMatchObject({ status: 400 });
    await onlySpare();
    await expect(file.connection.query(boundQuery(SILENT_QUERY, [], 700), 1, neverAborted)).rejects.toMatchObject({
      message: 'query timeout after 700 ms',
    });
  });

  test('ends when it was not taken for a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await (await openSmallFile()).query(SELECT_ALL);
    const spare = await onlySpare();
    vi.advanceTimersByTime(59_999);
    expect(await onlySpare()).toBe(spare);
    vi.advanceTimersByTime(1);
    await waitUntil(() => !isAlive(spare));
    expect(await sparesOf()).toEqual([]);
  });
});

test('without permission to keep spares, none is started', async () => {
  const file = await openSmallFile();
  await file.query(SELECT_ALL);
  expect(await childrenOf(process.pid)).toEqual([]);
});

/** Starts a process that keeps a spare query process and then runs `then`. */
async function startParent(then: string) {
  const [spares, drivers] = ['adapters/process/spare-process.ts', 'adapters/drivers/file/file-driver.ts'].map(
    (path) => new URL(`../../src/${path}`, import.meta.url).href,
  );
  const program = `import { keepSpares } from '${spares}';
    import { fileDriver } from '${drivers}';
    const endSpares = keepSpares();
    await fileDriver.upload.detectConfig('/dev/null', 'a.csv', new AbortController().signal).catch(() => {});
    process.stdout.write('started');
    ${then}`;
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(parent.stdout, 'data');
  return parent;
}

test('a spare process ends when its parent is killed', async () => {
  const parent = await startParent('setInterval(() => {}, 1000)');
  const spare = await onlySpare(parent.pid);
  parent.kill('SIGKILL');
  await waitUntil(() => !isAlive(spare));
  expect(isAlive(spare)).toBe(false);
});

test('a spare process does not keep its parent running', async () => {
  const parent = await startParent('');
  const [code] = await once(parent, 'exit');
  expect(code).toBe(0);
});
