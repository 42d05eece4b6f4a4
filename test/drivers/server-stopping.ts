import { readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { BoundQuery, SourceConnection } from '../../src/core/row-source.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { rejectionOf, waitUntil } from '../support/uploaded-source.ts';

/** A database server as a source. Its members exist from `beforeAll` on. */
interface ServerSource {
  connection: SourceConnection;
  dir: string;
  load(query: BoundQuery): Promise<unknown>;
  /** Returns the statements of the driver that are running in the source. */
  busy(): Promise<string[]>;
}

interface StoppingCase {
  /** Opens another connection to the source. */
  open(): SourceConnection;
  /** Returns rows without end, as they are computed. */
  endlessRowsQuery: string;
  /** Computes without end and returns nothing. */
  silentQuery: string;
  /** The beginning of the statement of a load in the source. */
  loadStatement: string;
  /** Returns whether the source waits for the reader of its rows. */
  isWaitingForReader(): Promise<boolean>;
}

/** Returns whether no statement of the driver is running. */
export const isIdle = async (source: ServerSource): Promise<boolean> => (await source.busy()).length === 0;

/** Declares the tests of a server driver that what is stopped ends in the source and leaves no file. */
export function testStopping(
  source: ServerSource,
  { open, endlessRowsQuery, silentQuery, loadStatement, isWaitingForReader }: StoppingCase,
): void {
  const becomesIdle = () => waitUntil(() => isIdle(source));
  const isRunning = async (statement: string) => (await source.busy()).some((query) => query.startsWith(statement));

  test.each([
    ['that sends rows', endlessRowsQuery],
    ['that computes and sends nothing', silentQuery],
  ])('aborting a load %s ends it in the source and leaves no file', async (_, text) => {
    const stop = new AbortController();
    const reading = (async () => {
      for await (const { path } of source.connection.segments(boundQuery(text), source.dir, stop.signal))
        await rm(path);
    })();
    const outcome = rejectionOf(reading);
    await waitUntil(() => isRunning(loadStatement));
    if (text === endlessRowsQuery) await sleep(300);
    stop.abort();
    expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
    await becomesIdle();
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('aborting a load whose source waits for the reader ends it', async () => {
    const stop = new AbortController();
    const loading = source.connection.segments(boundQuery(endlessRowsQuery), source.dir, stop.signal);
    const segments = loading[Symbol.asyncIterator]();
    await rm((await segments.next()).value.path as string);
    await waitUntil(isWaitingForReader);
    await sleep(200);
    stop.abort();
    await becomesIdle();
    await expect(segments.next()).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('a reader that stops early ends the load', async () => {
    for await (const segment of source.connection.segments(boundQuery(endlessRowsQuery), source.dir, neverAborted)) {
      expect(segment.rows).toBeGreaterThan(1);
      await rm(segment.path);
      break;
    }
    await becomesIdle();
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('closing the connection ends what runs', async () => {
    const connection = open();
    const outcome = rejectionOf(connection.query(boundQuery(silentQuery), 10, neverAborted));
    await waitUntil(() => isRunning('select'));
    await connection.close();
    expect(await outcome).toMatchObject({ code: 'CANCELLED' });
    await becomesIdle();
  });

  test.each(['query', 'load'])(
    'a %s past its timeout fails with a query timeout and ends in the source',
    async (kind) => {
      const query = boundQuery(silentQuery, [], 300);
      const running = kind === 'query' ? source.connection.query(query, 10, neverAborted) : source.load(query);
      await expect(running).rejects.toMatchObject({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message: 'query timeout after 300 ms',
      });
      await becomesIdle();
    },
  );

  test('an aborted signal opens no connection', async () => {
    await expect(source.connection.query(boundQuery('select 1'), 10, AbortSignal.abort())).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  });
}

/**
 * Loads a query, 100 ms a segment, and expects small segments, a memory that does not grow and rows of more than
 * `rowBytes`. Returns the number of rows, and the maximum number of segment files at a time.
 */
export async function readSlowly(
  source: ServerSource,
  text: string,
  rowBytes: number,
): Promise<{ rows: number; maxFiles: number }> {
  const before = process.memoryUsage.rss();
  let maxFiles = 0;
  let rows = 0;
  for await (const segment of source.connection.segments(boundQuery(text), source.dir, neverAborted)) {
    await sleep(100);
    maxFiles = Math.max(maxFiles, (await readdir(source.dir)).length);
    rows += segment.rows;
    expect(segment.bytes).toBeLessThan(9 * 1024 * 1024);
    expect(segment.longestRow).toBeGreaterThan(rowBytes);
    await rm(segment.path);
  }
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
  return { rows, maxFiles };
}

/** Declares the test of a load of the rows `1,row 1` to `1000000,row 1000000`. */
export function testMillionRows(source: ServerSource, text: string): void {
  test('a million rows arrive complete and in order', async () => {
    let next = 1;
    for await (const segment of source.connection.segments(boundQuery(text), source.dir, neverAborted)) {
      const lines = (await readFile(segment.path, 'utf8')).split('\n');
      expect(lines.pop()).toBe('');
      expect(segment.rows).toBe(lines.length);
      expect(segment.longestRow).toBe(lines.reduce((longest, line) => Math.max(longest, line.length + 1), 0));
      const wrong = lines.find((line) => line !== `${next},row ${next++}`);
      expect(wrong).toBeUndefined();
      await rm(segment.path);
    }
    expect(next).toBe(1_000_001);
  });
}
