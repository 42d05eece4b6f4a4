import { hash } from 'node:crypto';
import { type ApolloServer, type HTTPGraphQLHead, HeaderMap } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, preParsingHookHandler } from 'fastify';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { ACCEPT_QUERY, beginQuery } from '../../../rest-bridge/query-method.ts';
import { toApiError } from '../../core/api-error.ts';
import type { PublicContext } from '../../core/context.ts';
import { checkDocumentText } from '../../core/limits/limits.ts';
import { logFailure } from '../../core/log-failure.ts';
import type { Platform } from '../../core/platform.ts';
import type { Authenticator } from '../../services/identity/authenticator.ts';
import { prefersHtml } from '../pages/html.ts';
import type { RateLimiter } from '../rate-limit.ts';
import type { CreateContext } from '../request-context.ts';
import { traceGraphql } from '../tracing.ts';
import { PREFLIGHT_HEADERS, type SchemaReaders } from './apollo.ts';
import { sentId, type ClientDocuments, type SentDocument } from './client-documents.ts';
import type { PersistedQueries } from './document-store.ts';
import { isLong } from './document-thread.ts';
import { acceptsEvents, streamResults } from './event-stream.ts';
import type { AcceptKey } from './keyed-requests.ts';
import { OperationPreparer, type SentOperation } from './prepare-operation.ts';
import { createSocketHandler } from './websocket.ts';

export interface GraphqlOptions extends SchemaReaders {
  schema: GraphQLSchema;
  apollo: ApolloServer<PublicContext>;
  platform: Platform;
  authenticator: Authenticator;
  limiter: RateLimiter;
  clientDocuments: ClientDocuments;
  createContext: CreateContext;
  acceptKey: AcceptKey;
  /** Limits the bodies of callers without credentials. */
  limitBody: preParsingHookHandler;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Context of a request of GraphQL, or why it has none. With a body, it is created before the body is received. */
    graphqlContext: { context: PublicContext } | { error: unknown } | null;
  }
}

/**
 * Registers `/graphql`: POST, GET and WebSocket on one path. Browsers that open it are sent to GraphiQL. See
 * docs/contract/apis.md#graphql.
 */
export async function registerGraphqlRoutes(app: FastifyInstance, options: GraphqlOptions): Promise<void> {
  app.decorateRequest('graphqlContext', null);
  const operations = new OperationPreparer(options);
  /** Creates the context of a request, once. Apollo receives the error of a request without one. */
  const openContext = async (request: FastifyRequest, reply: FastifyReply) =>
    (request.graphqlContext ??= await options.createContext(request, reply, 'graphql').then(
      (created) => ({ context: created }),
      (error: unknown) => {
        if (!toApiError(error))
          logFailure(request.log, { err: error, requestId: request.id }, 'Request failed', reply.raw.destroyed);
        return { error: toRequestError(error) };
      },
    ));
  const context = async (request: FastifyRequest, reply: FastifyReply) => {
    const created = await openContext(request, reply);
    if ('error' in created) throw created.error as Error;
    await prepareDocument(request, created.context).catch((error: unknown) => {
      throw toRequestError(error);
    });
    return created.context;
  };
  /** Before Apollo parses the document of a request: checks how deep it nests, and validates a long new one. */
  const prepareDocument = async (request: FastifyRequest, caller: PublicContext): Promise<void> => {
    const { query, extensions } = sentDocument(request);
    const text = typeof query === 'string' ? query : options.persistedQueries.find(sentId({ extensions }) ?? '');
    if (text === undefined) return;
    checkDocumentText(text);
    if (isLong(text) && !options.documents.has(text)) await options.thread.prepare(text, caller);
  };
  const apolloHandler = fastifyApolloHandler(options.apollo, { context: context as never }) as unknown as (
    ...parameters: Parameters<RouteHandlerMethod>
  ) => Promise<unknown>;
  /** Replaces the sent document by a stored text. An error is thrown when Apollo asks for the context. */
  const resolveDocument = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyRequest> => {
    const created = await openContext(request, reply);
    if ('error' in created) return request;
    try {
      const text = await options.clientDocuments.resolve(sentDocument(request), created.context);
      return text === undefined ? request : withStoredText(request, text);
    } catch (error) {
      request.graphqlContext = { error: error instanceof GraphQLError ? error : toRequestError(error) };
      return request;
    }
  };
  const streamOf = async (request: FastifyRequest, reply: FastifyReply) => {
    const operation = sentOperation(request, options.persistedQueries);
    const created = request.graphqlContext!;
    if (!operation || 'error' in created || !created.context.viewer) return undefined;
    return streamResults({ ...options, operations }, operation, created.context, { request, reply });
  };
  const handler: RouteHandlerMethod = async (sent, reply) => {
    const request = await resolveDocument(sent, reply);
    const { accepts, only } = acceptsEvents(request.headers.accept);
    const events = accepts ? await streamOf(request, reply) : undefined;
    if (events) return events;
    // A refusal before an operation runs is JSON.
    if (only) request.headers.accept = 'application/json';
    const text = await traceGraphql(sent, () => apolloHandler(request, reply));
    const stored = typeof text === 'string' ? options.responses.find(text) : undefined;
    return stored ? stored.send(request, reply) : text;
  };
  const handleGet: RouteHandlerMethod = function (request, reply) {
    // A query may read data that no cache may store, like the REST routes of `NOT_STORED`.
    void reply.headers({ 'cache-control': 'no-store', 'accept-query': ACCEPT_QUERY });
    if (!prefersHtml(request)) return handler.call(this, request, reply);
    // A browser that opens this address.
    const [, search] = request.url.split('?');
    return reply.header('vary', 'accept').redirect(`/graphiql${search ? `?${search}` : ''}`);
  };
  const wsHandler = createSocketHandler({ ...options, operations }) as never;
  app.route({ method: 'GET', url: '/graphql', handler: handleGet, wsHandler });
  const withBody = {
    url: '/graphql',
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      const created = await openContext(request, reply);
      if ('context' in created) options.acceptKey(created.context, request.headers['idempotency-key'], reply);
    },
    preParsing: options.limitBody,
  };
  app.route({ ...withBody, method: 'POST', handler });
  const handleQuery: RouteHandlerMethod = function (request, reply) {
    // Apollo knows GET and POST only. The plugin refuses mutations.
    const asPost = Object.create(request, { method: { value: 'POST' } }) as FastifyRequest;
    return handler.call(this, asPost, reply);
  };
  const onRequest: typeof withBody.onRequest = async (request, reply) => {
    beginQuery(request, reply);
    await withBody.onRequest(request, reply);
  };
  app.route({ ...withBody, method: 'QUERY', onRequest, handler: handleQuery });
}

interface SentRequest extends SentDocument {
  operationName?: unknown;
  variables?: unknown;
}

/** Returns the document of a request, its id and its extensions, as they were sent. */
function sentDocument({ method, query, body }: FastifyRequest): SentRequest {
  if (method !== 'GET') return (body ?? {}) as SentRequest;
  const { extensions, ...sent } = query as SentRequest;
  return { ...sent, extensions: typeof extensions === 'string' ? parsedOrUndefined(extensions) : undefined };
}

function parsedOrUndefined(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Apollo refuses it.
    return undefined;
  }
}

/**
 * Returns the operation of a request for events; undefined if its parts are not what they should be, or if another site could send
 * it without a preflight. Apollo refuses these.
 */
function sentOperation(request: FastifyRequest, persisted: PersistedQueries): SentOperation | undefined {
  if (request.method === 'GET' && !PREFLIGHT_HEADERS.some((name) => request.headers[name])) return undefined;
  const { query: text, operationName, variables: given, extensions } = sentDocument(request);
  const sentHash = sentId({ extensions });
  const query = text ?? persisted.find(sentHash ?? '');
  if (sentHash !== undefined && typeof query === 'string' && hash('sha256', query) !== sentHash) return undefined;
  const isText = request.method === 'GET' && typeof given === 'string';
  const variables = isText ? parsedOrUndefined(given) : given;
  if (isText && variables === undefined) return undefined;
  const isObject = typeof variables === 'object' && !Array.isArray(variables);
  if (typeof query !== 'string' || (variables !== undefined && !isObject)) return undefined;
  if (typeof (operationName ?? '') !== 'string') return undefined;
  return { query, operationName: operationName as string, variables: variables as Record<string, unknown> };
}

/** Returns a request with a text and without its id. Otherwise Apollo would register the text, or compare its hash. */
function withStoredText(request: FastifyRequest, text: string): FastifyRequest {
  const { extensions } = sentDocument(request);
  const { persistedQuery: _named, ...others } = (extensions ?? {}) as Record<string, unknown>;
  if (request.method !== 'GET') {
    const { documentId: _id, ...body } = request.body as Record<string, unknown>;
    return Object.create(request, { body: { value: { ...body, query: text, extensions: others } } }) as FastifyRequest;
  }
  const [path, search] = request.url.split('?');
  const parameters = new URLSearchParams(search);
  parameters.delete('documentId');
  parameters.set('query', text);
  parameters.set('extensions', JSON.stringify(others));
  return Object.create(request, {
    url: { value: `${path}?${parameters.toString()}` },
    query: { value: { ...(request.query as object), query: text, documentId: undefined, extensions: undefined } },
  }) as FastifyRequest;
}

/**
 * Converts the error of a request that is refused before its document runs. Apollo responds with the status and headers
 * of the `ApiError`.
 */
function toRequestError(error: unknown): GraphQLError {
  const apiError = toApiError(error);
  const head: HTTPGraphQLHead = {
    status: apiError?.status ?? 500,
    headers: new HeaderMap(Object.entries(apiError?.headers ?? {})),
  };
  // Another package declares `extensions.http` as a plain object; Apollo expects its own type.
  return new GraphQLError(apiError?.message ?? 'Internal error', {
    originalError: error as Error,
    extensions: { http: head as object },
  });
}
