import type { TestContext } from 'vitest';

/** Functions that close what tests of this file started and have not closed. */
const open = new Set<() => Promise<void>>();
let hasFailed = false;

/**
 * Returns a function that closes, at most once, what a test started. An attempt that fails does not reach its call, so the end of
 * the file calls it then.
 */
export function closable(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const closeOnce = () => {
    open.delete(closeOnce);
    return (closed ??= close());
  };
  open.add(closeOnce);
  return closeOnce;
}

/** Notes failed attempts. Runs after each test. */
export function noteFailure({ task }: TestContext): void {
  hasFailed ||= task.result?.state === 'fail';
}

/** Closes what failed attempts left open. Without one, what is left open fails the file. Runs after each file. */
export async function closeAfterFailures(): Promise<void> {
  const left = hasFailed ? [...open] : [];
  open.clear();
  hasFailed = false;
  const ends = await Promise.allSettled(left.map((close) => close()));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
