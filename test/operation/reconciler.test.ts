import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Platform } from '../../src/core/platform.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { runSql } from '../support/run-sql.ts';
import { count, rows, test, type World } from './fixture.ts';
import { QUICK } from './platform.ts';

/** Options that sweep all files without a row. */
const ALL_FILES = { ...QUICK, fileAge: 0 };

/** Inserts a record that the sweep of operations deletes, which is an early one, and one that the last sweep deletes. */
async function insertOldRecords(world: World): Promise<void> {
  const ann = await world.caller();
  const id = await count(ann);
  await operations.cancel(ann, id);
  await rows(world, `update dws.operation set finished_at = now() - interval '8 days' where id = $1`, [id]);
  await rows(world, `insert into dws.login_attempt (key, at) values ('old', now() - interval '1 hour')`);
}

/** Returns which of the old records are left. */
const oldRecords = async (world: World): Promise<string[]> =>
  (
    await rows(
      world,
      `select 'operation' as kind from dws.operation where finished_at is not null
        union all select 'login attempt' from dws.login_attempt order by kind desc`,
    )
  ).map(({ kind }) => String(kind));

/** Saves files that no row names. */
async function saveOrphans({ platform }: World, number: number): Promise<void> {
  await mkdir(dirname(platform.files.path(newId())), { recursive: true });
  for (let n = 0; n < number; n++) await writeFile(platform.files.path(newId()), 'x');
}

const files = ({ platform }: World): Promise<string[]> => readdir(dirname(platform.files.path(newId())));

/** Returns the platform with a step before each file is removed, and with a log of its warnings. */
function observed(
  { platform }: World,
  beforeRemoval: (n: number) => Promise<void> = async () => {},
): Platform & { warnings: unknown[] } {
  const warnings: unknown[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(JSON.parse(line)) }) as Platform['log'];
  let number = 0;
  const remove = async (id: string): Promise<void> => {
    await beforeRemoval(++number);
    await platform.files.remove(id);
  };
  return { ...platform, log, files: { ...platform.files, remove }, warnings };
}

/** Locks the mails, for which the sweep of mails waits, until `open` is called. */
async function blockMail(world: World): Promise<{ open(): Promise<void> }> {
  const gate = new pg.Client({ connectionString: world.url });
  await gate.connect();
  await gate.query('begin; lock table dws.mail in access exclusive mode');
  return { open: () => gate.end() };
}

/** Waits until a pass waits for the mails. */
const untilBlocked = (world: World): Promise<void> =>
  expect
    .poll(() => runSql(world.url, `select from pg_locks where relation = 'dws.mail'::regclass and not granted limit 1`))
    .toHaveLength(1);

/** Returns the processes of Postgres that hold a session lock in the database. */
const lockHolders = (world: World): Promise<Record<string, unknown>[]> =>
  runSql(
    world.url,
    `select l.pid from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = 0
        and a.application_name = 'dws system' and a.datname = current_database()`,
  );

describe('a sweep', () => {
  test('that fails is logged, and stops no other', async ({ world }) => {
    await insertOldRecords(world);
    await runSql(
      world.url,
      `create function public.refuse() returns trigger language plpgsql as $$ begin raise 'no deletions'; end $$;
        create trigger refuse before delete on dws.mail execute function public.refuse()`,
    );
    const platform = observed(world);
    await reconcile(platform, {}, QUICK);
    expect(await oldRecords(world)).toEqual([]);
    expect(platform.warnings).toEqual([
      expect.objectContaining({
        sweep: 'mail',
        msg: 'A sweep failed',
        err: expect.objectContaining({ message: 'no deletions' }),
      }),
    ]);
  });

  test('of many files commits each batch, and what was swept before', async ({ world }) => {
    await insertOldRecords(world);
    await saveOrphans(world, 201);
    const clock = async (): Promise<unknown> => (await rows(world, 'select clock_timestamp() as now'))[0]!['now'];
    const seen: { start?: unknown; records?: string[]; oldest?: unknown } = {};
    const platform = observed(world, async (n) => {
      if (n === 1) Object.assign(seen, { start: await clock(), records: await oldRecords(world) });
      if (n !== 201) return;
      const [oldest] = await runSql(
        world.url,
        `select min(xact_start) as start from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      );
      seen.oldest = oldest!['start'];
    });
    await reconcile(platform, {}, ALL_FILES);
    expect(seen.records).toEqual(['login attempt']);
    expect(seen.oldest).toBeInstanceOf(Date);
    expect(Number(seen.oldest)).toBeGreaterThan(Number(seen.start));
    expect(await files(world)).toEqual([]);
  });

  test('that takes too long ends with its step; the others follow, and the next pass continues it', async ({
    world,
  }) => {
    await insertOldRecords(world);
    await saveOrphans(world, 101);
    const options = { ...ALL_FILES, sweepTimeout: 1000 };
    const platform = observed(world, async (n) => {
      if (n === 1) await sleep(options.sweepTimeout);
    });
    await reconcile(platform, {}, options);
    expect(await files(world)).toHaveLength(1);
    expect(await oldRecords(world)).toEqual([]);
    expect(platform.warnings).toEqual([
      expect.objectContaining({
        sweep: 'files',
        err: expect.objectContaining({ message: 'The sweep takes longer than 1000 ms' }),
      }),
    ]);
    await reconcile(platform, {}, ALL_FILES);
    expect(await files(world)).toEqual([]);
  });

  test('of files removes the others when one cannot be removed', async ({ world }) => {
    await saveOrphans(world, 3);
    const platform = observed(world, async (n) => {
      if (n === 1) throw new Error('EPERM');
    });
    await reconcile(platform, {}, ALL_FILES);
    expect(await files(world)).toHaveLength(1);
    expect(platform.warnings).toEqual([expect.objectContaining({ msg: 'Could not remove an orphaned file' })]);
  });
});

describe('a pass', () => {
  test('is done by one process at a time', async ({ world }) => {
    const gate = await blockMail(world);
    try {
      await world.startWorkerProcess();
      await untilBlocked(world);
      await insertOldRecords(world);
      await reconcile(world.platform, {}, QUICK);
      expect(await oldRecords(world)).toEqual(['operation', 'login attempt']);
    } finally {
      await gate.open();
    }
    await expect.poll(() => oldRecords(world)).toEqual([]);
  });

  test('can be done by another process when the first is killed', async ({ world }) => {
    const gate = await blockMail(world);
    try {
      const worker = await world.startWorkerProcess();
      await untilBlocked(world);
      expect(await lockHolders(world)).toHaveLength(1);
      await worker.kill('SIGKILL');
      await expect.poll(() => lockHolders(world)).toEqual([]);
    } finally {
      await gate.open();
    }
    await insertOldRecords(world);
    await reconcile(world.platform, {}, QUICK);
    expect(await oldRecords(world)).toEqual([]);
  });

  test('stops when its lock is lost, as another process may start one', async ({ world }) => {
    await insertOldRecords(world);
    const gate = await blockMail(world);
    try {
      const failure = reconcile(world.platform, {}, QUICK).catch((error: unknown) => error);
      await untilBlocked(world);
      for (const { pid } of await lockHolders(world)) await runSql(world.url, 'select pg_terminate_backend($1)', [pid]);
      await expect.poll(() => lockHolders(world)).toEqual([]);
      await gate.open();
      expect(await failure).toMatchObject({ status: 503, message: 'The connection that holds the lock was lost' });
    } finally {
      await gate.open();
    }
    expect(await oldRecords(world)).toEqual(['login attempt']);
    await reconcile(world.platform, {}, QUICK);
    expect(await oldRecords(world)).toEqual([]);
  });
});
