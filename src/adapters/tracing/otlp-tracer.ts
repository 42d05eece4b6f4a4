import { randomUUID } from 'node:crypto';
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as OtelSpan,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { OpenSpan, Span, Tracer } from '../../core/tracing.ts';

/** Limits how long the stop waits for the collector. */
const FLUSH_TIMEOUT_MS = 5_000;

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** Names the collector and this process. */
export interface OtlpOptions {
  /** Base URL of the collector: spans go to `<endpoint>/v1/traces`. */
  endpoint: string;
  serviceName: string;
  version: string;
  /** `ROLE` of the process. */
  role: string;
  log: Pick<Logger, 'warn' | 'info'>;
}

/** Creates the tracer that sends spans by OTLP/HTTP as JSON, in batches. `endpoint` may be unreachable at any time. */
export function createOtlpTracer(options: OtlpOptions): Tracer {
  const provider = new TracerProvider({
    resource: detectResources({ detectors: [envDetector] }).merge(
      resourceFromAttributes({
        'service.name': options.serviceName,
        'service.version': options.version,
        'service.instance.id': randomUUID(),
        'dws.role': options.role,
      }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter(options) })],
  });
  const tracer = provider.getTracer('data-workspace-service', options.version);
  const contexts = new AsyncLocalStorageContextManager().enable();
  const current = () => trace.getSpan(contexts.active());
  return {
    start({ name, kind, attributes = {}, parent, startedAt }) {
      const parentContext = parent === undefined ? contexts.active() : contextOf(parent);
      const span = tracer.startSpan(
        name,
        {
          kind: kind ? KINDS[kind] : SpanKind.INTERNAL,
          attributes,
          ...(startedAt !== undefined && { startTime: startedAt }),
        },
        parentContext,
      );
      return openSpan(span, (work) => contexts.with(trace.setSpan(parentContext, span), work));
    },
    current() {
      const span = current();
      return span ? describable(span) : null;
    },
    traceparent() {
      const context = current()?.spanContext();
      if (!context) return null;
      return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
    },
    async close() {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_TIMEOUT_MS).unref());
      await Promise.race([provider.shutdown().catch(() => {}), timeout]);
    },
  };
}

const describable = (span: OtelSpan): Span => ({
  rename: (name) => void span.updateName(name),
  set: (attributes) => void span.setAttributes(attributes),
  fail(code) {
    span.setAttribute('error.type', code);
    span.setStatus({ code: SpanStatusCode.ERROR, message: code });
  },
});

const openSpan = (span: OtelSpan, run: OpenSpan['run']): OpenSpan => ({
  ...describable(span),
  run,
  end: (at) => span.end(at),
});

/**
 * Returns the context of a `traceparent` of another process, or the context of a new trace for null and malformed
 * values.
 */
function contextOf(traceparent: string | null): Context {
  const [, traceId = '', spanId = '', flags = ''] =
    /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/.exec(traceparent ?? '') ?? [];
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(remote) ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
}

/**
 * Creates the exporter. It logs one line when the collector stops accepting spans, and one when it accepts them again.
 */
function createExporter({ endpoint, log }: OtlpOptions): SpanExporter {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces` });
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined || result.code !== 0;
        if (hasFailed && !isFailing)
          log.warn(
            { reason: reasonOf(result.error) },
            'The collector of OTEL_EXPORTER_OTLP_ENDPOINT accepts no traces',
          );
        if (!hasFailed && isFailing) log.info('The collector accepts traces again');
        isFailing = hasFailed;
        // The batch is lost. The SDK would log each one.
        done({ code: 0 });
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Returns the code of an error. Its message may contain the URL, and so a password. */
const reasonOf = (error: (Error & { code?: unknown }) | undefined): string =>
  String(error?.code ?? error?.name ?? 'unknown');
