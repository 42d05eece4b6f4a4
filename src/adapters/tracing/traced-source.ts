import type { BoundQuery, Driver, Segment, SourceConnection } from '../../core/row-source.ts';
import { traced, tracedIterable, type SpanStart } from '../../core/tracing.ts';

/** Returns the drivers with a span for each call of a source. */
export const traceDrivers = (drivers: ReadonlyMap<string, Driver>): ReadonlyMap<string, Driver> =>
  new Map(
    [...drivers].map(([id, driver]) => [
      id,
      {
        ...driver,
        connect: (config, secrets, file) => new TracedConnection(id, driver.connect(config, secrets, file)),
      } satisfies Driver,
    ]),
  );

/** A connection with a span for each call. Spans contain the type of the datasource, and no query. */
class TracedConnection implements SourceConnection {
  readonly #type: string;
  readonly #connection: SourceConnection;

  constructor(type: string, connection: SourceConnection) {
    this.#type = type;
    this.#connection = connection;
  }

  describe(...parameters: Parameters<SourceConnection['describe']>) {
    return traced(sourceSpan(this.#type, 'describe'), () => this.#connection.describe(...parameters));
  }

  segments(...parameters: Parameters<SourceConnection['segments']>): AsyncIterable<Segment> {
    return tracedIterable(sourceSpan(this.#type, 'read'), this.#connection.segments(...parameters));
  }

  test(signal: AbortSignal) {
    return traced(sourceSpan(this.#type, 'test'), () => this.#connection.test(signal));
  }

  schema(signal: AbortSignal) {
    return traced(sourceSpan(this.#type, 'schema'), () => this.#connection.schema(signal));
  }

  query(query: BoundQuery, limit: number, signal: AbortSignal) {
    return traced(sourceSpan(this.#type, 'query'), () => this.#connection.query(query, limit, signal));
  }

  count(query: BoundQuery, signal: AbortSignal) {
    return traced(sourceSpan(this.#type, 'count'), () => this.#connection.count(query, signal));
  }

  close() {
    return this.#connection.close();
  }
}

const sourceSpan = (type: string, call: string): SpanStart => ({
  name: `source ${call}`,
  kind: 'client',
  attributes: { 'db.system.name': type, 'db.operation.name': call },
});
