import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { platform, setPriority } from 'node:os';

/**
 * Niceness of long work. The event loop and Postgres, whose turns are short, have 0 and so three times the share of a
 * busy core (docs/architecture.md#fairness).
 */
const NICENESS = 5;

/** Niceness of processes that run several at a time. Next to four of `NICENESS`, reads waited seven times as long. */
export const MANY_NICENESS = 15;

/**
 * Lowers the CPU priority of a child process that was started as detached, unless it has ended. Threads and processes
 * that it starts later inherit the priority.
 */
export function lowerProcessPriority(pid: number | undefined, niceness = NICENESS): void {
  if (pid === undefined) return;
  ignoreFailure(() => setPriority(pid, niceness));
  // Linux groups processes by session, and weighs the group first.
  if (platform() === 'linux') ignoreFailure(() => writeFileSync(`/proc/${pid}/autogroup`, String(niceness)));
}

/**
 * Lowers the CPU priority of libuv's thread pool, where DuckDB runs its queries, and so of the threads that it starts
 * from now on. The pool must have been used before. Only on Linux, where threads have priorities of their own.
 */
export function lowerThreadPoolPriority(): void {
  if (platform() !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task'))
    ignoreFailure(() => {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
      if (name === 'libuv-worker') setPriority(Number(thread), NICENESS);
    });
}

/** Lowers the CPU priority of the thread that calls this. Only on Linux, where 0 stands for a thread. */
export function lowerThreadPriority(): void {
  if (platform() === 'linux') ignoreFailure(() => setPriority(0, NICENESS));
}

/** Runs what may fail: the process or thread has ended, or the system has no such priorities. */
function ignoreFailure(work: () => void): void {
  try {
    work();
  } catch {
    // It continues with the usual priority.
  }
}
