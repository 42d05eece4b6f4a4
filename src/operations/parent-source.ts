import { ColumnsChanged } from '../core/columns-changed.ts';
import type { Column } from '../core/fields.ts';
import type { Segment, SourceConnection } from '../core/row-source.ts';
import type { FromLoader, FromSource, ToLoader } from './load-job.ts';

/**
 * The source of a loader whose file the parent reads (source-relay.ts). One request is sent after the other, so that
 * segments are read no faster than they are loaded. After an error in the source the parent aborts the load.
 */
export class ParentSource implements Pick<SourceConnection, 'describe' | 'segments' | 'close'> {
  readonly #send: (message: FromLoader) => void;
  #pending: PromiseWithResolvers<FromSource> | undefined;
  #onRows: ((rows: number) => void) | undefined;
  #onEstimate: ((rows: number) => void) | undefined;

  constructor(send: (message: FromLoader) => void) {
    this.#send = send;
  }

  /** Receives messages of the parent. Ignores messages about other things. */
  receive(message: ToLoader): void {
    if (message.kind === 'rows') this.#onRows?.(message.rows);
    if (message.kind === 'estimate') this.#onEstimate?.(message.rows);
    if (message.kind === 'columns' || message.kind === 'segment' || message.kind === 'end')
      this.#pending?.resolve(message);
    if (message.kind === 'columns-changed') this.#pending?.reject(new ColumnsChanged(message.columns));
  }

  async describe(_query: unknown, signal: AbortSignal): Promise<Column[]> {
    const reply = await this.#request({ kind: 'describe' }, signal);
    return reply.kind === 'columns' ? reply.columns : [];
  }

  async *segments(
    _query: unknown,
    dir: string,
    signal: AbortSignal,
    onRows?: (rows: number) => void,
    onEstimate?: (rows: number) => void,
  ): AsyncGenerator<Segment> {
    this.#onRows = onRows;
    this.#onEstimate = onEstimate;
    for (;;) {
      const reply = await this.#request({ kind: 'read', dir, estimate: onEstimate !== undefined }, signal);
      if (reply.kind !== 'segment') return;
      yield reply.segment;
    }
  }

  /** The parent closes its connection when the load ends. */
  async close(): Promise<void> {}

  async #request(message: FromLoader, signal: AbortSignal): Promise<FromSource> {
    const pending = Promise.withResolvers<FromSource>();
    this.#pending = pending;
    const abort = () => pending.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      this.#send(message);
      return await pending.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}
