import { readdirSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { lowerPriority } from '../core/priority.ts';

/**
 * Lowers the CPU priority of libuv's thread pool, where DuckDB runs its queries, and so of the threads that it starts
 * from now on. The pool must have been used before. Only on Linux, where threads have priorities of their own.
 */
export function lowerThreadPoolPriority(): void {
  if (platform() !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task'))
    if (readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim() === 'libuv-worker') lowerPriority(Number(thread));
}
