import { randomUUID } from 'node:crypto';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import multipart from '@fastify/multipart';
import websocket from '@fastify/websocket';
import Fastify, { type FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { registerRest, sendError } from '../../rest-bridge/fastify.ts';
import { unauthenticated } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import { Authenticator } from '../services/identity/authenticator.ts';
import { createApollo } from './graphql/apollo.ts';
import { graphqlRoutes } from './graphql/graphql.ts';
import { permissionNames } from './graphql/sdl.ts';
import { healthRoutes } from './health.ts';
import { handleNotFound } from './not-found-route.ts';
import { registerPages } from './pages/pages.ts';
import { RateLimiter } from './rate-limit.ts';
import { contextFactory } from './request-context.ts';
import { RequestLog } from './request-log.ts';
import { checkOrigin } from './request.ts';
import { ROWS } from './routes.ts';
import { sendSecurityHeaders } from './security-headers.ts';

/** A request must have arrived after five minutes, its head after one; quiet connections end sooner. Milliseconds. */
const REQUEST_TIMEOUT = 300_000;
const KEEP_ALIVE = 72_000;
/** How long requests may go on while the service stops, which must be over after 30 seconds. Milliseconds. */
const CLOSE_TIMEOUT_MS = 20_000;

/** The one port: GraphQL, REST, WebSocket, pages (contract 1). */
export async function createHttpServer(platform: Platform, schema: GraphQLSchema): Promise<FastifyInstance> {
  const app = await bareServer(platform);
  await healthRoutes(app, { platform });

  const authenticator = new Authenticator(platform);
  const limiter = new RateLimiter(platform);
  const closing = endOf(app);
  app.addHook('onClose', async () => limiter.close());
  const makeContext = contextFactory({ platform, authenticator, limiter, closing });

  const apollo = createApollo(schema, platform);
  await apollo.start();
  app.addHook('onClose', () => apollo.stop());
  await app.register(graphqlRoutes, { schema, apollo, platform, authenticator, limiter, makeContext });
  const endpoints = registerRest(app, {
    schema,
    rows: ROWS,
    readForms: (api) => {
      api.removeAllContentTypeParsers();
      // How much a form may hold each reader says; how large a file may be, whoever takes it.
      void api.register(multipart);
    },
    permissionOf: permissionNames(schema),
    contextFor: async (request, reply, endpoint) => {
      const context = await makeContext(request, reply, 'rest');
      if (!context.viewer && !endpoint.public) throw unauthenticated();
      if (endpoint.row.method !== 'GET') checkOrigin(context.request);
      return context;
    },
  });
  await app.register(registerPages, { schema, endpoints, platform, createContext: makeContext });
  app.setNotFoundHandler(handleNotFound(app));
  return app;
}

/** Aborted when the server closes: streams end then, their connections after them, and who has not finished by the end of the patience is cut off. */
function endOf(app: FastifyInstance): AbortSignal {
  const closing = new AbortController();
  app.addHook('preClose', async () => {
    closing.abort();
    setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS).unref();
  });
  app.addHook('onResponse', async () => {
    if (closing.signal.aborted) setImmediate(() => app.server.closeIdleConnections());
  });
  return closing.signal;
}

/** Fastify with what holds for every route: headers, cookies, compression, limits, the form of errors. */
async function bareServer({ config, log, publicUrl }: Platform): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: log,
    logController: new RequestLog(),
    // A logger of its own costs a request 4 % of a read; our lines name the request instead.
    childLoggerFactory: (logger) => logger,
    genReqId: ({ headers }) =>
      /^[\w.-]{1,64}$/.test(String(headers['x-request-id'] ?? '')) ? String(headers['x-request-id']) : randomUUID(),
    trustProxy: config.TRUST_PROXY.length ? config.TRUST_PROXY : false,
    frameworkErrors: sendError,
    routerOptions: { maxParamLength: 500 },
    bodyLimit: 10 * 1024 * 1024,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE,
    forceCloseConnections: 'idle',
  }) as unknown as FastifyInstance;

  await app.register(cookie);
  // Without other origins there is nothing to say about them.
  if (config.CORS_ORIGINS.length > 0)
    await app.register(cors, {
      origin: config.CORS_ORIGINS,
      credentials: true,
      strictPreflight: false,
      maxAge: 600,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      exposedHeaders: ['etag', 'location', 'x-request-id', 'ratelimit', 'ratelimit-policy', 'retry-after'],
    });
  sendSecurityHeaders(app, publicUrl.startsWith('https'));
  await app.register(compress, { global: true, threshold: 1024, encodings: ['br', 'gzip'] });
  // What a client sends wrongly, e.g. a frame that is too large, ends its socket and is no error of ours.
  await app.register(websocket, {
    options: { maxPayload: 1024 * 1024 },
    errorHandler: (_error, socket) => socket.terminate(),
  });
  app.setErrorHandler(sendError);
  return app;
}
