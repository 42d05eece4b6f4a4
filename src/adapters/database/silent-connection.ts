import type { Socket } from 'node:net';
import type pg from 'pg';

/** The members of pg's client that its types lack. */
interface ClientState {
  connection: { stream: Socket };
  /** False while a statement runs. */
  readyForQuery: boolean;
}

/**
 * Ends a connection whose server sends nothing for `timeoutMs` while a statement runs. The statement fails with
 * ETIMEDOUT. This replaces pg's option `query_timeout`, which assigns another callback to each query. V8 then keeps its
 * rows until the next full garbage collection, which cost a third of the CPU of a list and 120 MiB.
 */
export function endSilentConnection(client: pg.ClientBase, timeoutMs: number): void {
  const state = client as unknown as ClientState;
  const { stream } = state.connection;
  stream.setTimeout(timeoutMs);
  stream.on('timeout', () => {
    if (state.readyForQuery) return;
    stream.destroy(Object.assign(new Error('Postgres does not respond'), { code: 'ETIMEDOUT' }));
  });
}
