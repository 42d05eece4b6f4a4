const MINUTE_MS = 60_000;
/** Time that a test needs within one window. */
const NEEDED_MS = 12_000;

/** Waits for the next minute if this one ends too soon: limits of calls count by minutes of the clock. */
export async function waitForEarlyMinute(): Promise<void> {
  const left = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (left < NEEDED_MS) await new Promise((resolve) => setTimeout(resolve, left + 50));
}
