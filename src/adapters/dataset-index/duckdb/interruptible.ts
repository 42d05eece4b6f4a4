import type { DuckDBConnection } from '@duckdb/node-api';

/** An interrupt that comes before the statement reached a thread is lost, so it is repeated until the statement ended. */
const REPEAT_MS = 10;

/**
 * Runs statements on a connection and stops them when the signal aborts.
 * @throws the signal's reason, whatever the interrupted statement says.
 */
export async function interruptible<T>(
  connection: DuckDBConnection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  let repeat: NodeJS.Timeout | undefined;
  const stop = () => {
    connection.interrupt();
    repeat = setInterval(() => connection.interrupt(), REPEAT_MS);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', stop);
    clearInterval(repeat);
  }
}
