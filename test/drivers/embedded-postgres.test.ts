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

async function startPostgres(): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir });
  started.push(postgres);
  return postgres;
}

/** Starts another process that runs Postgres in the folder. Resolves once Postgres accepts connections. */
async function startOwner(): Promise<{ pid: number; url: string; kill(): Promise<void> }> {
  const module = new URL('../../src/adapters/embedded-postgres/embedded-postgres.ts', import.meta.url).href;
  const program = `
    import { startEmbeddedPostgres } from ${JSON.stringify(module)};
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

const readPostmasterPid = async (): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);

/** Waits for a condition, until the timeout of the test. */
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
  const first = await startPostgres();
  await runSql(first.url, 'create table note as select 42 as value');
  await first.close();
  expect(runningEmbeddedPostgres(dataDir)).toBeUndefined();

  const second = await startPostgres();
  expect(second.url).toBe(first.url);
  expect(await runSql(second.url, 'select value from note')).toEqual([{ value: 42 }]);
  expect(runningEmbeddedPostgres(dataDir)).toBe(second.url);
});

test('text is UTF-8, letter case works beyond ASCII, and writes are durable', async () => {
  const { url } = await startPostgres();
  expect(
    await runSql(
      url,
      `select
        lower('ÅSA ÉMILE') as name,
        current_setting('fsync') as fsync,
        current_setting('synchronous_commit') as commit`,
    ),
  ).toEqual([{ name: 'åsa émile', fsync: 'on', commit: 'on' }]);
});

test('a second start in the same folder fails with the process that uses it', async () => {
  const { url } = await startPostgres();
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`in use by process ${process.pid}`);
  expect(await runSql(url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a folder that another process uses is refused, and free again after that process is killed', async () => {
  const owner = await startOwner();
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`in use by process ${owner.pid}`);
  expect(runningEmbeddedPostgres(dataDir)).toBe(owner.url);
  await runSql(owner.url, 'create table note as select 42 as value');
  const postgres = await readPostmasterPid();

  await owner.kill();
  const { url } = await startPostgres();
  expect(await runSql(url, 'select value from note')).toEqual([{ value: 42 }]);
  expect(isAlive(postgres)).toBe(false);
});

test('Postgres ends when the process that started it is killed', async () => {
  const owner = await startOwner();
  const postgres = await readPostmasterPid();
  await owner.kill();
  await until(() => !isAlive(postgres));
  expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(dataDir);
});

test('a Postgres that crashes restarts at the same address with its data', async () => {
  const { url } = await startPostgres();
  await runSql(url, 'create table note as select 42 as value');
  process.kill(await readPostmasterPid(), 'SIGKILL');
  await until(() =>
    runSql(url, 'select value from note').then(
      ([row]) => row?.value === 42,
      () => false,
    ),
  );
  expect(runningEmbeddedPostgres(dataDir)).toBe(url);
});

test('a wrong password is refused, and the right one is readable by its owner only', async () => {
  const { url } = await startPostgres();
  await expect(runSql(url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow(
    'password authentication failed',
  );
  expect((await stat(join(dataDir, 'postgres.json'))).mode & 0o777).toBe(0o600);
});

test('it listens on the loopback address only', async () => {
  const { port } = await startPostgres();
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
