import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { runSql } from '../support/run-sql.ts';

let dataDir: string;
const started: EmbeddedPostgres[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(`/tmp/dws-test-${process.pid}-`);
  await chmod(dataDir, 0o711);
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((postgres) => postgres.close()));
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir });
  started.push(postgres);
  return postgres;
}

/** Starts a process that runs Postgres in the folder until it is killed. Resolves once Postgres is ready. */
async function startHolder(): Promise<{ pid: number; url: string; kill(): Promise<void> }> {
  const program = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL('../../src/adapters/embedded-postgres/embedded-postgres.ts', import.meta.url).href)};
    console.log((await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} })).url);
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    pid: child.pid!,
    url: line.toString().trim(),
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

const postmasterPid = async (): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);

/** Waits for a condition; the test's own time limit is the only clock. */
async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await sleep(20);
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('data, address and password survive a stop and a start', async () => {
  const first = await start();
  await runSql(first.url, 'create table note as select 42 as answer');
  await first.close();
  expect(runningEmbeddedPostgres(dataDir)).toBeUndefined();

  const second = await start();
  expect(second.url).toBe(first.url);
  expect(await runSql(second.url, 'select answer from note')).toEqual([{ answer: 42 }]);
  expect(runningEmbeddedPostgres(dataDir)).toBe(second.url);
});

test('text is UTF-8 and knows letters beyond ASCII; writes are durable', async () => {
  const { url } = await start();
  expect(
    await runSql(
      url,
      `select lower('ÅSA ÉMILE') as name, current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`,
    ),
  ).toEqual([{ name: 'åsa émile', fsync: 'on', commit: 'on' }]);
});

test('a second start in the same folder says which process holds it', async () => {
  const { url } = await start();
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`in use by process ${process.pid}`);
  expect(await runSql(url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a folder that another process holds is refused with its number, and free again when that one is killed', async () => {
  const holder = await startHolder();
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`in use by process ${holder.pid}`);
  expect(runningEmbeddedPostgres(dataDir)).toBe(holder.url);
  await runSql(holder.url, 'create table note as select 42 as answer');
  const postgres = await postmasterPid();

  await holder.kill();
  const { url } = await start();
  expect(await runSql(url, 'select answer from note')).toEqual([{ answer: 42 }]);
  expect(isAlive(postgres)).toBe(false);
});

test('Postgres does not outlive a killed holder', async () => {
  const holder = await startHolder();
  const postgres = await postmasterPid();
  await holder.kill();
  await until(() => !isAlive(postgres));
  expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(dataDir);
});

test('a Postgres that ends unasked comes back at the same address with its data', async () => {
  const { url } = await start();
  await runSql(url, 'create table note as select 42 as answer');
  process.kill(await postmasterPid(), 'SIGKILL');
  await until(() =>
    runSql(url, 'select answer from note').then(
      ([row]) => row?.answer === 42,
      () => false,
    ),
  );
  expect(runningEmbeddedPostgres(dataDir)).toBe(url);
});

test('a wrong password is refused, and the right one is readable by its owner only', async () => {
  const { url } = await start();
  await expect(runSql(url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow(
    'password authentication failed',
  );
  expect((await stat(join(dataDir, 'postgres.json'))).mode & 0o777).toBe(0o600);
});

test('it listens on the loopback address only', async () => {
  const { port } = await start();
  const outside = Object.values(networkInterfaces())
    .flat()
    .filter((address) => address && !address.internal && address.family === 'IPv4');
  for (const { address } of outside as { address: string }[]) {
    const outcome = await new Promise<string>((done) => {
      connect(port, address, () => done('connected')).once('error', (error) => done(error.message));
    });
    expect(outcome).toContain('ECONNREFUSED');
  }
});
