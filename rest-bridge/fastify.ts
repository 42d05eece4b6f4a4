import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler, RouteHandlerMethod } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { MAX_JSON_BODY_BYTES } from '../src/core/api-error.ts';
import { badInput, defineError } from '../src/core/errors.ts';
import { leaveBodiesUnread, leaveOtherBodiesUnread, acceptOnlyJson } from './body-parser.ts';
import type { Endpoint } from './bridge.ts';
import type { BridgeContext, Call } from './call.ts';
import { allowedTags, allowedVersions, chooseContentType, createRevalidation, prefersAsync } from './negotiation.ts';
import { ACCEPT_QUERY, beginQuery } from './query-method.ts';
import type { RouteOptions } from './route.ts';
import { createPageErrorHandler, sendError, type SendErrorPage } from './send-error.ts';
import { sendResponse, sendText } from './send-response.ts';
import { createSofaRunner, type RunPlainRow } from './sofa.ts';
import { createFileReader, createFormReader } from './upload.ts';

const notAcceptable = defineError(
  406,
  'NOT_ACCEPTABLE',
  () => 'Responses are application/json or application/hal+json',
);

declare module 'fastify' {
  interface FastifyRequest {
    /** Context of the resolvers, for requests to rows. */
    bridgeContext: object | null;
  }
  interface FastifyContextConfig {
    /** Whether requests get 405 with the methods that the path has. `Allow` does not name the methods of the route. */
    isRefused?: boolean;
  }
}

export interface RestOptions {
  schema: GraphQLSchema;
  /** The result of `compileRows` on the schema. Several servers may have the same. */
  endpoints: readonly Endpoint[];
  /** Limits the bodies that the bridge reads. It runs after `contextFor`, on the decompressed bytes. */
  limitBody?: preParsingHookHandler;
  /** For rows that browsers open. */
  sendErrorPage?: SendErrorPage;
  /** Prepares the Fastify scope of the rows that consume forms. */
  readForms?(api: FastifyInstance): void;
  /**
   * Creates the context of the resolvers. It runs before the body is received, so it is the place to reject callers:
   * `endpoint.public` is true when no credentials are required.
   */
  contextFor(request: FastifyRequest, reply: FastifyReply, endpoint: Endpoint): object | Promise<object>;
  /** Lets the context of a request open its idempotency key. */
  acceptKey?(request: FastifyRequest, reply: FastifyReply): void;
}

/** Registers all rows under `/api`. */
export function registerRest(app: FastifyInstance, options: RestOptions): void {
  const { schema, endpoints } = options;
  const runPlain = createSofaRunner(schema, endpoints);
  app.decorateRequest('bridgeContext', null);
  const registerScope = (wanted: NonNullable<RouteOptions['consumes']>, prepare: (scope: FastifyInstance) => void) =>
    app.register(
      async (api) => {
        prepare(api);
        api.setErrorHandler(sendError);
        for (const endpoint of endpoints)
          if ((endpoint.row.options.consumes ?? 'json') === wanted) mount(api, endpoint, options, runPlain);
      },
      { prefix: '/api' },
    );
  void registerScope('json', acceptOnlyJson);
  // The reader of forms refuses other bodies.
  const readForms = (api: FastifyInstance) => {
    options.readForms?.(api);
    leaveOtherBodiesUnread(api);
  };
  void registerScope('multipart', readForms);
  void registerScope('file', readForms);
  void registerScope('bytes', leaveBodiesUnread);
}

/** Routes of logins, credentials and mails, whose responses no cache stores. */
const NOT_STORED = /^\/(login|identity-providers|me\/password|outbox|password-reset|session|sessions|tokens)(\/|$)/;

function mount(api: FastifyInstance, endpoint: Endpoint, options: RestOptions, runPlain: RunPlainRow): void {
  const { row } = endpoint;
  const wildcard = /:(\w+)\*$/.exec(row.path)?.[1];
  // Fastify registers `/` with and without the slash after the prefix.
  const url = row.path === '' ? '/' : wildcard === undefined ? row.path : row.path.replace(/:\w+\*$/, '*');
  const createCall = createCallFactory(endpoint, wildcard);
  const isStored = !NOT_STORED.test(row.path);
  const acceptsQuery = row.method === 'GET' && options.endpoints.some((one) => one.row.options.queryPath === row.path);
  const handler = row.options.handler
    ? createAdapterHandler(endpoint, createCall)
    : row.plain
      ? createPlainHandler(endpoint, createCall, runPlain)
      : row.options.consumes === 'multipart' || row.options.consumes === 'file'
        ? createFormHandler(endpoint, createCall)
        : row.options.revalidates
          ? createRevalidatingHandler(endpoint, createCall)
          : createRowHandler(endpoint, createCall);
  const route = {
    method: row.method,
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      if (!isStored) void reply.header('cache-control', 'no-store');
      if (acceptsQuery) void reply.header('accept-query', ACCEPT_QUERY);
      request.bridgeContext = await options.contextFor(request, reply, endpoint);
      if (endpoint.runsOnce && request.headers['idempotency-key'] !== undefined) options.acceptKey?.(request, reply);
    },
    handler,
    ...(options.limitBody && row.method !== 'GET' && !row.options.runsApp && { preParsing: options.limitBody }),
    ...(row.options.opensPage && { errorHandler: createPageErrorHandler(options.sendErrorPage) }),
    bodyLimit: MAX_JSON_BODY_BYTES,
    // Handlers of apps get a compressed body as it is.
    ...(row.options.runsApp && { decompress: false as const }),
    // A HEAD request must change nothing.
    exposeHeadRoute:
      row.method === 'GET' &&
      row.options.produces !== 'text/event-stream' &&
      endpoint.plan?.operation !== 'mutation' &&
      row.options.runsApp === undefined,
  };
  const urls = [url, ...(row.options.aliases ?? []), ...(row.options.optionalRest ? [url.replace(/\/\*$/, '')] : [])];
  for (const one of urls) api.route({ ...route, url: one });
  if (row.options.queryPath)
    api.route({
      ...route,
      method: 'QUERY',
      url: row.options.queryPath,
      onRequest: async (request, reply) => {
        await route.onRequest(request, reply);
        beginQuery(request, reply);
      },
      // It revalidates, as GET does.
      handler: createRevalidatingHandler(endpoint, createCall),
    });
  if (row.method !== 'GET' || !row.options.runsApp) return;
  // Which methods a path has, only the app knows: it refuses these.
  const method = row.options.runsApp === 'view' ? ['HEAD'] : ['HEAD', 'PATCH', 'DELETE'];
  for (const one of urls) api.route({ ...route, url: one, method, config: { isRefused: true } });
}

type CreateCall = (request: FastifyRequest) => Call;

/** Creates the function that turns requests into calls. `wildcard` is the parameter that takes the rest of the path. */
function createCallFactory({ row, runsOnce }: Endpoint, wildcard: string | undefined): CreateCall {
  const isConditional = row.method === 'PUT' || row.method === 'DELETE';
  return (request) => {
    const { url, headers, query, body } = request;
    const context = request.bridgeContext!;
    const ifMatch = isConditional ? allowedVersions(headers['if-match']) : undefined;
    if (ifMatch)
      Object.assign(context, { ifMatch, ifMatchTags: allowedTags(headers['if-match']) } satisfies BridgeContext);
    checkQueryEncoding(url);
    const isKeyed = runsOnce && headers['idempotency-key'] !== undefined;
    const params = request.params as Record<string, string>;
    return {
      context,
      url,
      body,
      query: query as Call['query'],
      respondAsync: prefersAsync(headers['prefer']),
      keyed: isKeyed ? { method: row.method, path: url.split('?', 1)[0]! } : undefined,
      params: wildcard === undefined ? params : { ...params, [wildcard]: params['*']! },
    };
  };
}

/** Throws 400 for malformed percent-encoding, which Fastify's parser of query strings accepts. */
function checkQueryEncoding(url: string): void {
  const question = url.indexOf('?');
  if (question < 0 || !url.includes('%', question)) return;
  try {
    decodeURIComponent(url.slice(question));
  } catch {
    throw badInput('The query string is not well-formed percent-encoding');
  }
}

/** Returns the content type of the response. Throws 406. */
function negotiateContentType(request: FastifyRequest): string {
  const type = chooseContentType(request.headers.accept);
  if (type === undefined) throw notAcceptable();
  return type;
}

const createRowHandler =
  (endpoint: Endpoint, createCall: CreateCall): RouteHandlerMethod =>
  async (request, reply) => {
    const type = negotiateContentType(request);
    return sendResponse(await endpoint.run(createCall(request)), type, request, reply);
  };

/** Creates the handler of a row whose field finds out whether the client has the response. */
const createRevalidatingHandler =
  (endpoint: Endpoint, createCall: CreateCall): RouteHandlerMethod =>
  async (request, reply) => {
    const type = negotiateContentType(request);
    const call = createCall(request);
    const revalidation = createRevalidation(request.headers['if-none-match']);
    (call.context as BridgeContext).revalidate = (state) => revalidation.revalidate(state);
    const response = await endpoint.run(call);
    const { tag, isCurrent } = revalidation;
    if (tag !== undefined) reply.headers({ etag: tag, 'cache-control': 'private, no-cache' });
    return isCurrent ? reply.code(304).send() : sendResponse(response, type, request, reply);
  };

/**
 * Creates the handler of a row that consumes forms, or files as bodies. The response is sent before the rest of the form
 * is read.
 */
const createFormHandler = (endpoint: Endpoint, createCall: CreateCall): RouteHandlerMethod => {
  const readFormOnly = createFormReader(endpoint.parser!);
  const readForm = endpoint.row.options.consumes === 'file' ? createFileReader(readFormOnly) : readFormOnly;
  return async (request, reply) => {
    const type = negotiateContentType(request);
    const call = createCall(request);
    const form = await readForm(request, call.params);
    try {
      return sendResponse(await endpoint.run({ ...call, body: form.body }), type, request, reply);
    } finally {
      form.end();
    }
  };
};

const createPlainHandler =
  (endpoint: Endpoint, createCall: CreateCall, runPlain: RunPlainRow): RouteHandlerMethod =>
  async (request, reply) => {
    const type = negotiateContentType(request);
    const { status, text } = await runPlain(endpoint, createCall(request));
    reply.code(status);
    return sendText({ text }, type, request, reply);
  };

const createAdapterHandler =
  (endpoint: Endpoint, createCall: CreateCall): RouteHandlerMethod =>
  async (request, reply) => {
    const call = createCall(request);
    const { status, handler } = endpoint.row.options;
    if (typeof status === 'number') reply.code(status);
    const run = async () =>
      handler!({
        ...call,
        request,
        reply,
        run: (args) => endpoint.run(call, args),
        subscribe: (args = {}) => endpoint.subscribe(call, args),
      });
    const payload = await run().catch(async (error: unknown) => {
      await (call.context as BridgeContext).recordRefusal?.(call.params, error);
      throw error;
    });
    if (request.method === 'HEAD' && payload instanceof Readable) {
      payload.destroy();
      return reply.send();
    }
    return payload === undefined ? reply : payload;
  };
