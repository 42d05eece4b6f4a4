/** The signal of work that its caller cannot end. */
export const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/**
 * Runs work with a signal that aborts with one of `signals`, and with the error of `createError` when the time is over;
 * that error is then thrown, whatever the work throws.
 */
export async function withTimeout<T>(
  milliseconds: number,
  createError: () => Error,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(createError()), milliseconds);
  try {
    return await work(AbortSignal.any([...signals, timeout.signal]));
  } catch (error) {
    throw timeout.signal.aborted && !signals.some(({ aborted }) => aborted) ? timeout.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}
