import { readdirSync, readFileSync } from 'node:fs';
import { platform, setPriority } from 'node:os';

/**
 * Niceness of long work. The event loop and Postgres, whose turns are short, have 0 and three times the share of a busy
 * core (docs/contract.md#fairness).
 */
const NICENESS = 5;

/** Lowers the CPU priority of a child process. Must be called before it starts threads, which inherit the priority. */
export function lowerPriority({ pid }: { pid?: number | undefined }): void {
  if (pid !== undefined) trySetPriority(pid);
}

/**
 * Lowers the CPU priority of libuv's thread pool, where DuckDB runs its queries, and of the threads that it starts from
 * now on. The pool must have been used before. Only on Linux, where threads have priorities of their own.
 */
export function lowerThreadPoolPriority(): void {
  if (platform() !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task'))
    if (readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim() === 'libuv-worker')
      trySetPriority(Number(thread));
}

/** Sets the priority of a process or thread, unless it has ended. */
function trySetPriority(id: number): void {
  try {
    setPriority(id, NICENESS);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}
