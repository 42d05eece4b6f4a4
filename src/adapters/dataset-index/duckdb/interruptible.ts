import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * An interrupt that precedes the start of the statement on its thread is lost, so it is repeated until the statement
 * ends.
 */
const REPEAT_MS = 10;

/**
 * Runs statements on a connection and interrupts them when the signal aborts. It then throws the signal's reason, even
 * if the interrupt came too late and the statements succeeded.
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
  } finally {
    signal.removeEventListener('abort', stop);
    clearInterval(repeat);
    signal.throwIfAborted();
  }
}
