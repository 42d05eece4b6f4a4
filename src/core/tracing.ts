import { toApiError } from './api-error.ts';

/**
 * Facts of a span: ids, numbers, and names of the product, of operations and of models. Never the text of a query, values
 * of users or credentials.
 */
type SpanAttributes = Record<string, string | number | boolean>;

/** A span that is about to start. */
export interface SpanStart {
  name: string;
  /** Side of the span in a call or queue. Default: internal. */
  kind?: 'server' | 'client' | 'producer' | 'consumer';
  attributes?: SpanAttributes;
  /**
   * W3C `traceparent` of the parent. Null starts a new trace, as a malformed one does. Default: the span in whose `run`
   * the caller is.
   */
  parent?: string | null;
  /** Time of the start in milliseconds since 1970. Default: now. */
  startedAt?: number;
}

/** A running span. */
export interface Span {
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed with a code, which names the kind of error. */
  fail(code: string): void;
}

/** A span whose owner ends it. */
export interface OpenSpan extends Span {
  /** Runs `work` inside the span: spans that it starts, synchronously or later, are children. */
  run<T>(work: () => T): T;
  /** Ends the span. Default of `at`, in milliseconds since 1970: now. */
  end(at?: number): void;
}

/** Creates spans and sends them to a collector. */
export interface Tracer {
  start(span: SpanStart): OpenSpan;
  /** Returns the span in whose `run` the caller is. */
  current(): Span | null;
  /** Returns the `traceparent` of that span. */
  traceparent(): string | null;
  /** Sends the spans that have ended. Never throws. */
  close(): Promise<void>;
}

const NO_SPAN: OpenSpan = {
  rename() {},
  set() {},
  fail() {},
  run: (work) => work(),
  end() {},
};

let tracer: Tracer | null = null;

/** Sets the tracer of this process. Without one, the functions below only run their work. */
export const setTracer = (chosen: Tracer | null): void => {
  tracer = chosen;
};

/** Returns whether this process records traces. */
export const isTracing = (): boolean => tracer !== null;

/** Starts a span, which the caller ends. */
export const startSpan = (span: SpanStart): OpenSpan => tracer?.start(span) ?? NO_SPAN;

/** Returns the `traceparent` of the current span, to continue the trace in another process. Null without one. */
export const currentTraceparent = (): string | null => tracer?.traceparent() ?? null;

/** Marks the current span as failed. Does nothing without one. */
export const failCurrentSpan = (code: string): void => tracer?.current()?.fail(code);

/** Returns the code of an error for its span. The message may contain data of users, so it is left out. */
export const spanCode = (error: unknown): string => toApiError(error)?.code ?? 'INTERNAL';

/** Runs `work` in a span, which ends with it, and returns its result. An error is recorded and thrown again. */
export function traced<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  return tracer ? runTraced(tracer.start(start), work) : work(NO_SPAN);
}

async function runTraced<T>(span: OpenSpan, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(spanCode(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Yields what `source` yields. Its span lasts until the reader has taken everything or stops. */
export async function* tracedIterable<T>(start: SpanStart, source: AsyncIterable<T>): AsyncGenerator<T> {
  const span = startSpan(start);
  try {
    yield* source;
  } catch (error) {
    span.fail(spanCode(error));
    throw error;
  } finally {
    span.end();
  }
}
