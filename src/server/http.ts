import { randomUUID } from 'node:crypto';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import multipart from '@fastify/multipart';
import websocket from '@fastify/websocket';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Endpoint } from '../../rest-bridge/bridge.ts';
import type { BridgeContext } from '../../rest-bridge/call.ts';
import { registerRest, type RestOptions } from '../../rest-bridge/fastify.ts';
import { sendError } from '../../rest-bridge/send-error.ts';
import { respondToUnmatched } from '../../rest-bridge/unmatched-requests.ts';
import { MAX_JSON_BODY_BYTES } from '../core/api-error.ts';
import { checkOrigin } from '../core/check-origin.ts';
import type { Context, PublicContext } from '../core/context.ts';
import { isDownload, requestedDownload } from '../core/downloads.ts';
import { unauthenticated } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import { finishRunRecords } from '../services/app/app-run-record.ts';
import { finishRuns } from '../services/app/late-run.ts';
import { finishRefusals } from '../services/app/webhook-refusal.ts';
import { Authenticator } from '../services/identity/authenticator.ts';
import { recordRefusedRead } from '../services/resource/audit-read.ts';
import { registerApiCatalog } from './api-catalog.ts';
import { AppBodies, type BodyLimits } from './app-bodies.ts';
import { createViewRunner, createWebhookRunner, MAX_REFUSED_CALLS } from './app-calls.ts';
import { compressLargeInTurn } from './compression.ts';
import { createApollo } from './graphql/apollo.ts';
import { DocumentStore, PersistedQueries } from './graphql/document-store.ts';
import { DocumentThread } from './graphql/document-thread.ts';
import { registerGraphqlRoutes } from './graphql/graphql.ts';
import { SchemaResponses } from './graphql/schema-responses.ts';
import { endpointsOf } from './graphql/sdl.ts';
import { registerHealthRoutes } from './health.ts';
import { createInternalApi, InternalCalls } from './internal-api.ts';
import { sendErrorPage } from './pages/error-page.ts';
import { sendNotFoundPage } from './pages/not-found-page.ts';
import { registerPages } from './pages/pages.ts';
import { createRedirectPage, type SendRedirectPage } from './pages/redirect-page.ts';
import { registerErrorCodePages, registerRelationPages } from './pages/reference-pages.ts';
import { queuePipelinedRequests } from './pipelined-requests.ts';
import { acceptPlainJson } from './plain-json.ts';
import { limitPublicBodies } from './public-bodies.ts';
import { RateLimiter } from './rate-limit.ts';
import { createContextFactory, type CreateContext } from './request-context.ts';
import { RequestLog } from './request-log.ts';
import { registerSecurityHeaders } from './security-headers.ts';
import { closeStalledConnections } from './stalled-connections.ts';
import { traceRequests } from './tracing.ts';
import { respondToUnparsable } from './unparsable-requests.ts';
import { limitUnreadResponses } from './unread-responses.ts';

/** Maximum time to receive a request. Its headers must arrive within one minute, Node's default. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Maximum size of the headers with the path, Node's default. */
const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** How long a client may take no byte of a response that waits for it. */
const STALL_TIMEOUT_MS = 60_000;
/** Close code of WebSockets, RFC 6455. */
const GOING_AWAY = 1001;
/** How long requests may continue while the service stops. The whole stop takes at most 30 seconds. */
const CLOSE_TIMEOUT_MS = 20_000;

interface HttpOptions {
  /** The rows of REST, compiled against the schema. */
  endpoints?: readonly Endpoint[];
  /** Limits of the bodies of apps. */
  bodyLimits?: BodyLimits;
}

/**
 * Creates the server of GraphQL, REST, WebSocket and pages, all on one port. See docs/contract/running.md#running-it.
 */
export async function createHttpServer(
  platform: Platform,
  schema: GraphQLSchema,
  { endpoints = endpointsOf(schema), bodyLimits }: HttpOptions = {},
): Promise<FastifyInstance> {
  const app = await createServer(platform);
  await registerHealthRoutes(app, { platform });
  registerApiCatalog(app, platform.publicUrl);

  const authenticator = new Authenticator(platform);
  const { RATE_LIMIT_API, RATE_LIMIT_WEBHOOK } = platform.config;
  const limiter = new RateLimiter(platform, { name: 'api', limit: RATE_LIMIT_API });
  const closing = createClosingSignal(app);
  const webhookLimiter = new RateLimiter(platform, { name: 'webhook', limit: RATE_LIMIT_WEBHOOK });
  const refusedLimiter = new RateLimiter(platform, { name: 'refused', limit: MAX_REFUSED_CALLS });
  app.addHook('onClose', async () => [limiter, webhookLimiter, refusedLimiter].forEach((one) => one.close()));
  app.addHook('onClose', async () => {
    await finishRuns(platform);
    await Promise.all([finishRunRecords(platform), finishRefusals(platform)]);
  });
  const bodies = new AppBodies(bodyLimits);
  const internalCalls = new InternalCalls();
  platform.internalApi = createInternalApi(app, internalCalls, platform.publicUrl);
  const createContext = createContextFactory({ platform, authenticator, limiter, internalCalls, closing });

  const documents = new DocumentStore();
  const persistedQueries = new PersistedQueries();
  const thread = new DocumentThread(schema);
  const responses = new SchemaResponses(schema, thread);
  const apollo = createApollo(schema, platform, { documents, persistedQueries, thread, responses });
  await apollo.start();
  app.addHook('onClose', () => apollo.stop());
  const limitBody = limitPublicBodies(bodies, hasViewer);
  const graphql = {
    schema,
    apollo,
    documents,
    persistedQueries,
    thread,
    responses,
    platform,
    authenticator,
    limiter,
    createContext,
    limitBody,
  };
  await app.register(registerGraphqlRoutes, graphql);
  registerRest(app, {
    schema,
    endpoints,
    limitBody,
    readForms: (api) => {
      api.removeAllContentTypeParsers();
      // Without limits: the form reader limits texts, and the code that stores a file limits its size.
      void api.register(multipart);
    },
    sendErrorPage,
    contextFor: createRestContextFactory(createContext, {
      sendRedirectPage: createRedirectPage(platform),
      runView: createViewRunner(bodies),
      runWebhook: createWebhookRunner({ platform, limiter, webhookLimiter, refusedLimiter, bodies }),
    }),
  });
  registerErrorCodePages(app);
  registerRelationPages(app, { endpoints, platform, createContext });
  await app.register(registerPages, { schema, endpoints, platform, createContext });
  return app;
}

/** Returns whether the caller of a request has valid credentials. Before its context exists it has none. */
function hasViewer({ bridgeContext, graphqlContext }: FastifyRequest): boolean {
  const context = graphqlContext && 'context' in graphqlContext ? graphqlContext.context : bridgeContext;
  return Boolean((context as PublicContext | null)?.viewer);
}

/** The functions that run handlers of apps and send their redirects. */
interface AppRunners {
  sendRedirectPage: SendRedirectPage;
  runView: ReturnType<typeof createViewRunner>;
  runWebhook: ReturnType<typeof createWebhookRunner>;
}

/** Creates the factory of the contexts of REST requests. It throws 401 and 403 before the body is received. */
const createRestContextFactory =
  (createContext: CreateContext, { sendRedirectPage, runView, runWebhook }: AppRunners): RestOptions['contextFor'] =>
  async (request, reply, endpoint): Promise<PublicContext & BridgeContext> => {
    const { runsApp } = endpoint.row.options;
    if (runsApp === 'webhook' || runsApp === 'hook') {
      const context = createContext.anonymous(request, reply, 'rest');
      const runApp = runWebhook(context.request, runsApp === 'hook');
      return { ...context, runApp, ...(!context.request.appDepth && { sendRedirectPage }) };
    }
    const context = await createContext(request, reply, 'rest');
    if (!context.viewer && !endpoint.public) throw unauthenticated(context.request.cookieRefusal);
    if (endpoint.row.method !== 'GET' && request.method !== 'QUERY') checkOrigin(context.request);
    const { field, options } = endpoint.row;
    if (options.handler && isDownload(field))
      return {
        ...context,
        recordRefusal: (params, error) => recordRefusedRead(context, requestedDownload(field, params), error),
      };
    if (runsApp !== 'view') return context;
    const runApp = runView(context as Context);
    return { ...context, runApp, ...(!context.request.appDepth && { sendRedirectPage }) };
  };

/**
 * Creates a signal that aborts when the server closes. Streams end then, and their connections close after them.
 * Connections that are still open after `CLOSE_TIMEOUT_MS` are cut.
 */
function createClosingSignal(app: FastifyInstance): AbortSignal {
  const closing = new AbortController();
  app.addHook('preClose', async () => {
    closing.abort();
    const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS).unref();
    app.server.once('close', () => clearTimeout(cut));
  });
  app.addHook('onResponse', async () => {
    if (closing.signal.aborted) setImmediate(() => app.server.closeIdleConnections());
  });
  return closing.signal;
}

/** Paths that end with a path of an app: of one of its files, or as its handlers see it. They keep their slashes. */
const PATH_OF_APP = /^\/api\/(?:apps\/[^/]+\/(?:files\/[^?]|(?:view|_hook)\/)|hooks\/)/;

/** Returns a URL of an API without the slash at the end of its path: it is the same route. */
function withoutTrailingSlash(url: string): string {
  if (!url.startsWith('/api/') && !url.startsWith('/graphql/')) return url;
  const query = url.indexOf('?');
  const end = query < 0 ? url.length : query;
  return url[end - 1] === '/' && !PATH_OF_APP.test(url) ? url.slice(0, end - 1) + url.slice(end) : url;
}

/** Closes the WebSockets of a server that stops, with the code that lets clients reconnect elsewhere. */
function closeSockets(this: FastifyInstance, done: () => void): void {
  for (const socket of this.websocketServer.clients) socket.close(GOING_AWAY, 'Going away');
  this.websocketServer.close(done);
}

/**
 * Creates the Fastify server with the settings of all routes: headers, cookies, compression, limits, error responses.
 */
async function createServer({ config, log, publicUrl }: Platform): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: log,
    logController: new RequestLog(),
    // A child logger for each request costs 4 % of a read. The log lines contain the request id instead.
    childLoggerFactory: (logger) => logger,
    rewriteUrl: ({ url = '/' }) => withoutTrailingSlash(url),
    genReqId: ({ headers }) =>
      /^[\w.-]{1,64}$/.test(String(headers['x-request-id'] ?? '')) ? String(headers['x-request-id']) : randomUUID(),
    trustProxy: config.TRUST_PROXY.length ? config.TRUST_PROXY : false,
    frameworkErrors: sendError,
    // A parameter of any length that fits into the headers reaches its route: an id that cannot exist is 404.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    bodyLimit: MAX_JSON_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    clientErrorHandler: respondToUnparsable,
  }) as unknown as FastifyInstance;

  queuePipelinedRequests(app);
  limitUnreadResponses(app);
  compressLargeInTurn(app);
  await app.register(cookie);
  if (config.CORS_ORIGINS.length > 0)
    await app.register(cors, {
      origin: config.CORS_ORIGINS,
      credentials: true,
      strictPreflight: false,
      maxAge: 600,
      methods: ['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: ['etag', 'location', 'x-request-id', 'ratelimit', 'ratelimit-policy', 'retry-after'],
    });
  registerSecurityHeaders(app, publicUrl.startsWith('https'));
  await app.register(compress, { global: true, threshold: 1024, encodings: ['br', 'gzip'] });
  // An invalid frame, e.g. one that is too large, closes the socket without an error in the log.
  await app.register(websocket, {
    // One message of a socket per turn of the event loop: other requests do not wait for all that it has sent.
    options: { maxPayload: 1024 * 1024, allowSynchronousEvents: false },
    errorHandler: (_error, socket) => socket.terminate(),
    preClose: closeSockets,
  });
  traceRequests(app);
  acceptPlainJson(app);
  app.setErrorHandler(sendError);
  const stopWatch = closeStalledConnections(app.server, STALL_TIMEOUT_MS);
  app.addHook('onClose', async () => stopWatch());
  respondToUnmatched(app, sendNotFoundPage);
  return app;
}
