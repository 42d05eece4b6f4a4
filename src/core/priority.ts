import { setPriority } from 'node:os';

/**
 * Niceness of long work. The event loop and Postgres, whose turns are short, have 0 and three times the share of a busy
 * core (docs/architecture.md#fairness).
 */
const NICENESS = 5;

/**
 * Lowers the CPU priority of a child process, or of a thread on Linux, unless it has ended. Threads that it starts
 * later inherit it.
 */
export function lowerPriority(id: number | undefined): void {
  if (id === undefined) return;
  try {
    setPriority(id, NICENESS);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}
