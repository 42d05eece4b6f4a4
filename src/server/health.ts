import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { toApiError } from '../core/api-error.ts';
import { diskFull, unauthenticated, unavailable } from '../core/errors.ts';
import { noteRequest } from '../core/long-turns.ts';
import { METRICS, observeGraphqlRequest, type GraphqlOperation } from '../core/metrics.ts';
import type { Platform } from '../core/platform.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The GraphQL operation that the request runs; null for other requests. */
    graphqlOperation: GraphqlOperation | null;
  }
}

/** A part that takes longer to respond is unavailable. */
const CHECK_TIMEOUT_MS = 5000;

/** Free space of `DATA_DIR` below which the disk counts as full. Postgres needs 16 MB for its next log file. */
const MIN_FREE_BYTES = 50_000_000;

const rejectAfterTimeout = () =>
  new Promise<never>((_, reject) =>
    setTimeout(() => reject(unavailable(`no response within ${CHECK_TIMEOUT_MS / 1000} s`)), CHECK_TIMEOUT_MS).unref(),
  );

/**
 * Returns the reasons why parts of the service do not work, by the part's name; empty when the service is ready. Every
 * caller may read them, so errors that are not meant for clients are only logged.
 */
async function findUnavailableParts(platform: Platform): Promise<Record<string, string>> {
  const { index, log, notifications, system } = platform;
  const expectRows = async (text: string) => {
    if (!(await system.query({ text })).length) throw unavailable('its tables are missing');
  };
  const checks: Record<string, () => Promise<unknown>> = {
    postgres: () => system.query({ text: 'select 1' }),
    migrations: () => system.query({ text: 'select 1 from dws.setting limit 1' }),
    queue: () =>
      expectRows(`
        select 1
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'dws_jobs' and c.relname = 'job'`),
    notifications: async () => {
      if (!notifications.connected) throw unavailable('not connected');
    },
    index: () => index.ping(),
    disk: () => checkDisk(platform),
  };
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await Promise.race([check(), rejectAfterTimeout()]);
        return [];
      } catch (error) {
        const known = toApiError(error);
        if (!known) log.error({ err: error, part: name }, 'A part of the service does not work');
        return [[name, known?.message ?? 'does not work; the log has the reason']];
      }
    }),
  );
  return Object.fromEntries(results.flat()) as Record<string, string>;
}

async function checkDisk({ freeBytes }: Platform): Promise<void> {
  if ((await freeBytes()) < MIN_FREE_BYTES) throw diskFull();
}

let nodeMetrics: Registry | undefined;

/** Starts the metrics of Node, once in a process: what observes them never ends. Returns them. */
function startNodeMetrics(): Registry {
  if (!nodeMetrics) collectDefaultMetrics({ register: (nodeMetrics = new Registry()) });
  return nodeMetrics;
}

/**
 * Registers `/healthz` (the process runs), `/readyz` (everything that it needs works) and `/metrics` (Prometheus; for
 * the bearer token `METRICS_TOKEN`, or for loopback callers only). See docs/contract/running.md#running-it.
 */
export async function registerHealthRoutes(app: FastifyInstance, { platform }: { platform: Platform }): Promise<void> {
  const ofNode = startNodeMetrics();
  const registry = new Registry();
  const requests = new Histogram({
    name: 'dws_http_request_seconds',
    help: 'Time from request to response in seconds',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  });
  const failures = new Counter({
    name: 'dws_http_errors_total',
    help: 'Responses with a status of 500 or higher',
    labelNames: ['route'],
    registers: [registry],
  });
  new Gauge({
    name: 'dws_operations_open',
    help: 'Long operations that have not finished',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      const rows = await platform.system.query<{ status: string; count: number }>({
        text: `
          select status, count(*) as count
          from dws.operation
          where finished_at is null
          group by status`,
      });
      this.reset();
      for (const { status, count } of rows) this.set({ status }, Number(count));
    },
  });
  app.decorateRequest('graphqlOperation', null);
  app.addHook('onRequest', (_request, _reply, done) => {
    noteRequest();
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    noteRequest();
    const route = request.routeOptions.url ?? 'unknown';
    requests.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    if (reply.statusCode >= 500) failures.inc({ route });
    const { graphqlOperation } = request;
    if (graphqlOperation) observeGraphqlRequest(graphqlOperation, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });

  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const down = await findUnavailableParts(platform);
    const ready = Object.keys(down).length === 0;
    return reply
      .code(ready ? 200 : 503)
      .send(
        ready
          ? { status: 'ok' }
          : { status: 'unavailable', down: Object.entries(down).map(([name, reason]) => ({ name, reason })) },
      );
  });
  app.get('/metrics', async (request, reply) => {
    const token = platform.config.METRICS_TOKEN;
    const isAllowed = token ? isSameText(request.headers.authorization ?? '', `Bearer ${token}`) : isLocal(request);
    if (!isAllowed) throw unauthenticated();
    const texts = await Promise.all([ofNode, registry, METRICS].map((metrics) => metrics.metrics()));
    return reply.header('content-type', registry.contentType).send(texts.join(''));
  });
}

const isSameText = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Returns whether a request comes from this machine, and not through a proxy on it. */
const isLocal = ({ ip, socket, headers }: FastifyRequest): boolean =>
  isLoopback(socket.remoteAddress) && isLoopback(ip) && !headers['x-forwarded-for'] && !headers.forwarded;
const isLoopback = (address: string | undefined): boolean =>
  address === '::1' || /^(::ffff:)?127\./.test(address ?? '');
