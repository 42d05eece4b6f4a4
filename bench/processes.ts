/** Costs of processes, read from /proc. A process and its descendants count as one. Linux only. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS = Number(execFileSync('getconf', ['CLK_TCK']));

interface Stat {
  parent: number;
  seconds: number;
}

/** Returns parent and CPU seconds (user and system, reaped children included); undefined if the process has ended. */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { parent: fields[1]!, seconds: (fields[11]! + fields[12]! + fields[13]! + fields[14]!) / TICKS };
  } catch {
    return undefined;
  }
}

/** SQL, for a superuser, that returns the process id of the postmaster. */
export const POSTMASTER = `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid`;

/** Returns the process and its living descendants. */
export function treeOf(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), statOf(Number(name))?.parent] as const);
  const tree = [root];
  for (const pid of tree) tree.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child));
  return tree;
}

/** Returns the CPU seconds that the process tree has used so far. */
export const cpuOf = (root: number): number => treeOf(root).reduce((sum, pid) => sum + (statOf(pid)?.seconds ?? 0), 0);

/** Returns the resident memory of one process in MiB: current (`VmRSS`) or its peak (`VmHWM`). 0 if it has ended. */
export function ownMemoryOf(pid: number, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  try {
    return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Returns the resident memory of the process tree in MiB. */
export const memoryOf = (root: number, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number =>
  treeOf(root).reduce((sum, pid) => sum + ownMemoryOf(pid, what), 0);

/** Runs `work` and returns its result with the highest peak of memory in MiB of a child of the process during the work. */
export async function peakOfChild<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; peak: number }> {
  let peak = 0;
  const watch = setInterval(() => {
    for (const child of treeOf(pid).slice(1)) peak = Math.max(peak, ownMemoryOf(child, 'VmHWM'));
  }, 100);
  try {
    const result = await work();
    return { result, peak };
  } finally {
    clearInterval(watch);
  }
}

/** Binds this process, and all that it starts from now on, to cores (`1`, `0,1`). */
export const pin = (cores: string): void => void execFileSync('taskset', ['-apc', cores, String(process.pid)]);

const servers = new Set<ChildProcess>();
// An interrupted benchmark ends the servers that it started.
process.once('exit', () => servers.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
/** Options of Node with which `npm start` runs the service. */
export const SERVICE_FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=150'];

/** Starts `command` on the given cores and waits until `url` responds. */
export async function startServer(
  cores: string,
  command: string[],
  env: NodeJS.ProcessEnv,
  url: string,
): Promise<ChildProcess> {
  const child = spawn('taskset', ['-c', cores, ...command], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  servers.add(child);
  child.once('exit', () => servers.delete(child));
  for (const start = Date.now(); Date.now() - start < 60_000;) {
    if (child.exitCode !== null) throw new Error(`${command.join(' ')} ended with code ${child.exitCode}`);
    if (
      await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return child;
    await new Promise((wake) => setTimeout(wake, 50));
  }
  child.kill('SIGKILL');
  throw new Error(`${command.join(' ')} does not respond at ${url}`);
}

/** Ends a process that this one started: SIGTERM, then SIGKILL after 10 s. */
export async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(killer);
}
