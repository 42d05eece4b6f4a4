import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../process/process-alive.ts';
import type { Cluster } from './cluster.ts';

/** A Postgres that ended before it was ready. The message is the end of its log. */
export class StartFailed extends Error {}

const MAX_LOG_BYTES = 10 * 2 ** 20;

/** `RLIMIT_DATA` of Postgres and each of its processes: private memory. Shared memory does not count. */
const MAX_PROCESS_KB = 512 * 1024;

/** Starts a program with a limit of its memory. A lower limit of the machine remains. */
const LIMITED = 'ulimit -d "$0" 2>/dev/null; exec "$@"';

/**
 * Passes on the log of Postgres without its report of memory contexts after `out of memory`, which contains statements.
 */
const WITHOUT_MEMORY_REPORT = "LC_ALL=C grep -a --line-buffered -v ' in [0-9]* blocks.* free.* used' || exec cat";

/** Reads `postmaster.pid` of a running cluster; undefined when it is not running or still starting. */
export function postmasterOf(cluster: string): { pid: number; port: number; ready: boolean } | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
}

/**
 * Starts Postgres and resolves when it accepts connections. Detached, because Ctrl-C reaches the whole process group
 * and Postgres is still needed then. Throws `StartFailed`.
 */
export async function startPostmaster(
  { record, account, programs }: Cluster,
  port: number,
  settings: Record<string, string | number>,
  logFile: string,
): Promise<ChildProcess> {
  const log = openLog(logFile);
  const begin = statSync(logFile).size;
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const filter = spawn('/bin/sh', ['-c', WITHOUT_MEMORY_REPORT], {
    ...account,
    cwd: '/',
    detached: true,
    stdio: ['pipe', log, log],
  });
  filter.unref();
  closeSync(log);
  const filtered = new Promise((resolve) => filter.once('exit', resolve).once('error', resolve));
  const command = [programs.postgres, '-D', record.cluster, '-p', String(port), ...options];
  const limited =
    process.platform === 'linux' ? ['/bin/sh', '-c', LIMITED, String(MAX_PROCESS_KB), ...command] : command;
  const child = spawn(limited[0]!, limited.slice(1), {
    ...account,
    cwd: '/',
    env: { TZ: 'UTC' },
    detached: true,
    stdio: ['ignore', filter.stdin, filter.stdin],
  });
  // Only Postgres keeps it open: the filter ends with its last process.
  filter.stdin!.destroy();
  child.unref();
  const failure = new Promise<never>((_, fail) => child.once('error', fail));
  const ready = (async () => {
    while (child.exitCode === null && child.signalCode === null) {
      const running = postmasterOf(record.cluster);
      if (running?.pid === child.pid && running?.ready) return watched(child, account);
      await sleep(10);
    }
    await filtered;
    throw new StartFailed(readFileSync(logFile).subarray(begin).toString('utf8').trim());
  })();
  return Promise.race([ready, failure]);
}

/**
 * Ensures that Postgres does not outlive this process. A shell waits for the end of a pipe that only this process has
 * open, which the kernel closes in any case, and then stops Postgres. It works on Linux and macOS and runs as the
 * Postgres user.
 */
function watched(child: ChildProcess, account: Cluster['account']): ChildProcess {
  const watchdog = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$0"', String(child.pid)], {
    ...account,
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  (watchdog.stdin as Socket).unref();
  // After the end of Postgres its process id may be reused.
  child.once('exit', () => watchdog.kill('SIGKILL'));
  return child;
}

/**
 * Stops Postgres fast (running transactions are rolled back), and immediately when that lasts more than ten seconds.
 */
export async function stopPostmaster(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const gone = once(child, 'exit');
  child.kill('SIGINT');
  const impatience = setTimeout(() => child.kill('SIGQUIT'), 10_000);
  await gone;
  clearTimeout(impatience);
}

/**
 * Stops the Postgres that a killed holder left behind, if it still runs on this cluster, and waits until it has ended.
 */
export async function stopLeftover(cluster: string): Promise<void> {
  const left = postmasterOf(cluster);
  if (!left || !isAlive(left.pid)) return;
  if (!servesCluster(left.pid, cluster)) {
    // The process id was reused, e.g. in a restarted container. Postgres itself would refuse to start.
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    return;
  }
  process.kill(left.pid, 'SIGINT');
  for (let waited = 0; isAlive(left.pid); waited += 20) {
    if (waited === 10_000) process.kill(left.pid, 'SIGQUIT');
    await sleep(20);
  }
}

function servesCluster(pid: number, cluster: string): boolean {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`) === cluster;
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).includes(cluster);
  } catch {
    return false;
  }
}

function openLog(file: string): number {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(file, `${file}.old`);
  return openSync(file, 'a', 0o600);
}
