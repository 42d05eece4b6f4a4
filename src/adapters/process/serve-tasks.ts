import { parentPort } from 'node:worker_threads';
import { lowerThreadPriority } from './priority.ts';
import { stackOf } from './program-error.ts';
import type { TaskResponse } from './task-thread.ts';

/** Serves the tasks of a `TaskThread` in its thread, which gets a lower CPU priority than the event loop. */
export function serveTasks<T, R>(work: (task: T) => R): void {
  lowerThreadPriority();
  parentPort!.on('message', (task: T) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort!.postMessage(respond(work, task));
  });
}

function respond<T, R>(work: (task: T) => R, task: T): TaskResponse<R> {
  try {
    return { result: work(task) };
  } catch (error) {
    return { error: stackOf(error) };
  }
}
