import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findLargest } from '../../src/adapters/app-workspace/memory-watch.ts';
import { createAppDriver } from '../../src/adapters/drivers/app/app-driver.ts';
import { newFolder } from '../support/service-process.ts';
import { never, outcomeOf, SECRET, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

/** Takes more memory than Postgres gives a process. */
const ATTACK = `
  do $$ declare a text; b text;
  begin
    a := repeat('x', 500000000); b := repeat('a statement of an app', 25000000);
    perform length(a || b);
  end $$`;
/** Takes 100 MB for longer than a test lasts, or than a statement of an app may run. */
const LARGE = `do $$ declare a text; begin a := repeat('x', 100000000); perform pg_sleep(60); end $$`;
const MAX_BYTES = 60_000_000;
const EXCEEDED = `The statements of apps together use more than ${MAX_BYTES} bytes of memory, and this one the most`;

/** Returns what Postgres has logged. */
async function readLog(): Promise<string> {
  const [{ folder }] = (await own.sql('show data_directory')).map(({ data_directory }) => ({
    folder: dirname(String(data_directory)),
  })) as [{ folder: string }];
  return readFile(join(folder, 'postgres.log'), 'utf8');
}

test('a statement that takes too much memory fails alone', async () => {
  const [key, other] = [await own.create(), await own.create()];
  const running = own.run(other, 'select count(*) as n from generate_series(1, 2000000)');
  expect(await outcomeOf(own.run(key, ATTACK))).toBe('53200');
  expect(await running).toEqual([{ n: 2_000_000 }]);
  expect(await own.run(key, 'select 1 as n')).toEqual([{ n: 1 }]);
  await expect(own.migrate(key, { '001.sql': '', '002.sql': ATTACK })).rejects.toMatchObject({
    message: 'migrations/002.sql:2: out of memory',
    cause: { code: '53200' },
  });
  expect(await own.migrate(key, { '001.sql': '', '002.sql': 'create table other (id int)' })).toEqual(['002.sql']);
});

test('a sort that takes more memory than its settings allow it fails alone', async () => {
  const key = await own.create();
  const hash = `select count(*) from (select n from generate_series(1, 100000000) n group by n) x`;
  await own.workspaces
    .transaction(
      key,
      async (query) => {
        await query(`set local work_mem = '2000MB'`);
        expect(await outcomeOf(query(hash))).toBe('53200');
        await query('select').catch(() => {});
      },
      never,
    )
    .catch((error: { code: string }) => expect(error.code).toBe('25P02'));
  expect(await own.run(key, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test('the log has neither reports of memory nor what apps raise', async () => {
  const key = await own.create();
  expect(await outcomeOf(own.run(key, ATTACK))).toBe('53200');
  await own.run(key, `do $$ begin raise log 'raised by an app'; raise warning 'raised by an app'; end $$`);
  const log = await readLog();
  expect(log).toContain('LOG:  starting PostgreSQL');
  expect(log).not.toMatch(/ in \d+ blocks|a statement of an app|raised by an app/);
});

test('when the statements of apps together take too much memory, the largest one ends', async () => {
  const [key, other] = [await own.create(), await own.create()];
  const limited = own.open(SECRET, 0, MAX_BYTES);
  const small = limited.query(other, 'select pg_sleep(1), 1 as n', [], never);
  await expect(limited.query(key, LARGE, [], never)).rejects.toMatchObject({ code: '53200', message: EXCEEDED });
  expect(await small).toMatchObject([{ n: 1 }]);
  expect(await limited.query(key, 'select 1 as n', [], never)).toEqual([{ n: 1 }]);
});

test.each([
  { used: [10, 50, 40], maxBytes: 100, ended: [] },
  { used: [10, 60, 40], maxBytes: 100, ended: [60] },
  { used: [300, 300, 300, 300, 300, 300], maxBytes: 700, ended: [300, 300, 300, 300] },
  { used: [5, 200, 7, 90], maxBytes: 60, ended: [200, 90] },
  { used: [200], maxBytes: 60, ended: [200] },
])('of the processes with $used bytes, $ended end for a bound of $maxBytes', ({ used, maxBytes, ended }) => {
  const processes = used.map((bytes, pid) => ({ pid, bytes }));
  expect(findLargest(processes, maxBytes).map(({ bytes }) => bytes)).toEqual(ended);
});

test('a migration that takes too much memory fails alone', async () => {
  const key = await own.create();
  const limited = own.open(SECRET, 0, MAX_BYTES);
  const files = [{ filename: '002.sql', checksum: '', read: async () => Buffer.from(LARGE) }];
  await expect(limited.migrate(key, files, { dryRun: false, signal: never })).rejects.toMatchObject({
    message: `migrations/002.sql:1: ${EXCEEDED}`,
    cause: { code: '53200' },
  });
  expect(await limited.query(key, 'select 1 as n', [], never)).toEqual([{ n: 1 }]);
});

test('a transaction that keeps memory between its statements ends when others need it', async () => {
  const [key, other] = [await own.create(), await own.create()];
  const limited = own.open(SECRET, 0, MAX_BYTES);
  const keeps = limited.transaction(
    key,
    async (query) => {
      await query(`select set_config('x.kept', repeat('x', 100000000), false) is null`);
      expect(await outcomeOf(limited.query(other, `do $$ begin perform pg_sleep(2); end $$`, [], never))).toEqual({
        rows: [],
      });
      await query('select 1');
    },
    never,
  );
  await expect(keeps).rejects.toMatchObject({ code: '53200', message: EXCEEDED });
});

test('a statement of another process counts, and ends when that process does not end it', async () => {
  const [key, other] = [await own.create(), await own.create()];
  const limited = own.open(SECRET, 0, MAX_BYTES);
  // The other process has no limit.
  let large: unknown;
  const ended = outcomeOf(own.run(key, LARGE)).then((outcome) => {
    large = outcome;
  });
  // They are shorter than the pause between two looks.
  while (large === undefined) expect(await limited.query(other, 'select 1 as n', [], never)).toEqual([{ n: 1 }]);
  await ended;
  expect(large).toBe('UNAVAILABLE');
});

const EAT = `create function eat(bytes int, seconds int) returns int language plpgsql as $$
  declare a text; begin a := repeat('x', bytes); perform pg_sleep(seconds); return length(a); end $$`;

test.each(['query', 'count', 'segments'] as const)(
  'when the datasource of an app takes too much memory (%s), the largest one ends',
  async (kind) => {
    const [key, other] = [await own.create(EAT), await own.create(EAT)];
    const limited = own.open(SECRET, 0, MAX_BYTES);
    const driver = createAppDriver(limited);
    const connect = async ({ appId, tenantId }: typeof key) => {
      const { config, secrets } = await driver.locate!({ appId }, tenantId);
      return driver.connect(config, secrets, null);
    };
    const [large, small] = [await connect(key), await connect(other)];
    const boundQuery = (bytes: number, seconds: number) => ({
      text: `select eat(${bytes}, ${seconds}) as n`,
      parameters: [],
      timeout: 60_000,
    });
    const beside = small.query(boundQuery(1, 2), 10, never);
    const folder = newFolder();
    const run = {
      query: () => large.query(boundQuery(100_000_000, 50), 10, never),
      count: () => large.count(boundQuery(100_000_000, 50), never),
      segments: async () => {
        for await (const _segment of large.segments(boundQuery(100_000_000, 50), folder.path, never));
      },
    };
    await expect(run[kind]()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED', message: EXCEEDED });
    expect((await beside).rows).toEqual([{ n: 1 }]);
    expect((await large.query(boundQuery(1, 0), 10, never)).rows).toEqual([{ n: 1 }]);
    for (const connection of [large, small]) await connection.close();
    folder.remove();
  },
);
