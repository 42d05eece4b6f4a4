import { ColumnsChanged } from '../core/columns-changed.ts';
import type { Segment, SourceConnection } from '../core/row-source.ts';
import type { FromLoader, FromSource, LoadJob } from './load-job.ts';

/** Reads a source for a loader, at its requests. */
export interface SourceRelay {
  /** Receives messages of the loader. Ignores messages about other things. */
  receive(message: FromLoader): void;
  /** Returns the error of the source, if there was one. */
  failure(): { error: unknown } | undefined;
  /** Closes the connection and deletes segments that the loader did not receive. Never throws. */
  close(): Promise<void>;
}

/**
 * Reads an uploaded file for a loader, so that its query process is a child of this process, which keeps a spare one.
 * Only the paths of segments pass through this process, never rows. `abort` is called after an error of the source: it
 * aborts the load.
 */
export function relaySource(
  connection: SourceConnection,
  { query }: LoadJob,
  signal: AbortSignal,
  send: (message: FromSource) => void,
  abort: () => void,
): SourceRelay {
  let failure: { error: unknown } | undefined;
  let segments: AsyncIterator<Segment> | undefined;
  const begin = (dir: string, estimate: boolean) => {
    const onRows = (rows: number) => send({ kind: 'rows', rows });
    const onEstimate = estimate ? (rows: number) => send({ kind: 'estimate', rows }) : undefined;
    return connection.segments(query, dir, signal, onRows, onEstimate)[Symbol.asyncIterator]();
  };
  const replyTo = async (message: FromLoader): Promise<void> => {
    if (message.kind === 'describe')
      send({ kind: 'columns', columns: await connection.describe(query, signal, { provisional: true }) });
    if (message.kind !== 'read') return;
    segments ??= begin(message.dir, message.estimate);
    try {
      const { done, value } = await segments.next();
      send(done ? { kind: 'end' } : { kind: 'segment', segment: value });
    } catch (error) {
      if (!(error instanceof ColumnsChanged)) throw error;
      segments = undefined;
      send({ kind: 'columns-changed', columns: error.columns });
    }
  };
  return {
    receive(message) {
      replyTo(message).catch((error: unknown) => {
        failure ??= { error };
        abort();
      });
    },
    failure: () => failure,
    async close() {
      await connection.close();
      await segments?.return?.().catch(() => {});
    },
  };
}
