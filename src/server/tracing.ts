import type { FastifyInstance, FastifyRequest } from 'fastify';
import { getOperationAST, type ExecutionArgs } from 'graphql';
import type { Config } from '../core/config.ts';
import type { GraphqlOperation } from '../core/metrics.ts';
import type { Platform } from '../core/platform.ts';
import {
  isTracing,
  setTracer,
  spanCode,
  startSpan,
  traced,
  type OpenSpan,
  type Span,
  type SpanStart,
} from '../core/tracing.ts';
import { VERSION } from './package-root.ts';

/** Routes without traces: monitoring calls them every few seconds. */
const UNTRACED_ROUTES = new Set(['/healthz', '/readyz', '/metrics']);

/** Maximum length of names that clients choose. */
const MAX_NAME_CHARACTERS = 64;

/**
 * Starts to record traces if `OTEL_EXPORTER_OTLP_ENDPOINT` is set; otherwise no module of OpenTelemetry is loaded.
 * Returns a function that sends the remaining spans.
 */
export async function startTracing(config: Config, log: Platform['log']): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: serviceName, ROLE: role } = config;
  if (!endpoint) return async () => {};
  const { createOtlpTracer } = await import('../adapters/tracing/otlp-tracer.ts');
  const tracer = createOtlpTracer({ endpoint, serviceName, version: VERSION, role, log });
  setTracer(tracer);
  return async () => {
    setTracer(null);
    await tracer.close();
  };
}

/** Returns the parts of a platform with spans around calls of sources and of the dataset index. */
export async function tracePlatform<T extends Pick<Platform, 'drivers' | 'index'>>(platform: T): Promise<T> {
  if (!isTracing()) return platform;
  const { traceDrivers } = await import('../adapters/tracing/traced-source.ts');
  const { traceIndex } = await import('../adapters/tracing/traced-index.ts');
  return { ...platform, drivers: traceDrivers(platform.drivers), index: traceIndex(platform.index) };
}

/**
 * Adds a span to each request. It continues the trace of the caller's `traceparent`. WebSockets have spans of their
 * operations.
 */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return;
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  app.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url;
    if (request.ws || (route && UNTRACED_ROUTES.has(route))) return done();
    const span = startSpan({
      name: route ? `${request.method} ${route}` : request.method,
      kind: 'server',
      parent: String(request.headers['traceparent'] ?? ''),
      attributes: {
        'http.request.method': request.method,
        'dws.request.id': request.id,
        ...(route && { 'http.route': route }),
      },
    });
    spans.set(request, span);
    // `close` also fires when the client disconnects.
    reply.raw.once('close', () => {
      const { statusCode } = reply;
      span.set({ 'http.response.status_code': statusCode });
      if (statusCode >= 500) span.fail(String(statusCode));
      span.end();
    });
    done();
  });
  // `onRequest` would be too early: the events of the body would lose the span.
  app.addHook('preHandler', (request, _reply, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
}

/** Returns the span of a GraphQL operation: its type, and its name as the client chose it. */
const graphqlSpan = ({ name, type }: Pick<GraphqlOperation, 'name' | 'type'>): SpanStart & { attributes: object } => ({
  name: `graphql ${type}`,
  attributes: {
    'graphql.operation.type': type,
    ...(name && { 'graphql.operation.name': name.slice(0, MAX_NAME_CHARACTERS) }),
  },
});

/** Runs the handler of a GraphQL request in a span. The operation becomes known when its document is parsed. */
export function traceGraphql(request: FastifyRequest, work: () => Promise<unknown>): Promise<unknown> {
  if (!isTracing()) return work();
  return traced({ name: 'graphql' }, async (span: Span) => {
    try {
      return await work();
    } finally {
      if (request.graphqlOperation) {
        const { name, attributes } = graphqlSpan(request.graphqlOperation);
        span.rename(name);
        span.set(attributes);
      }
    }
  });
}

/** Runs an operation of a WebSocket in a trace of its own. The trace of a subscription ends when it has started. */
export function traceSocketOperation<T extends object>(
  args: ExecutionArgs,
  run: (args: ExecutionArgs) => T | Promise<T>,
): T | Promise<T> {
  const operation = isTracing() ? getOperationAST(args.document, args.operationName) : null;
  if (!operation) return run(args);
  const start = graphqlSpan({ name: operation.name?.value ?? null, type: operation.operation });
  return traced({ ...start, kind: 'server', parent: null }, async (span) => {
    const result = await run(args);
    if ('errors' in result && Array.isArray(result.errors)) span.fail(spanCode(result.errors[0]));
    return result;
  });
}
