import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { badInput, defineError, methodNotAllowed, noRoute } from '../src/core/errors.ts';
import { MAX_JSON_BYTES, leaveBodiesUnread, acceptOnlyJson } from './body-parser.ts';
import { compileRows, type BridgeOptions, type Endpoint } from './bridge.ts';
import type { RestResponse, BridgeContext, Call } from './call.ts';
import { errorResponse } from './error-response.ts';
import { allowedVersions, matchesEntityTag, chooseContentType, entityTag, prefersAsync } from './negotiation.ts';
import type { Row } from './route.ts';
import { createSofaRunner, type RunPlainRow } from './sofa.ts';
import { createFormReader } from './upload.ts';

const notAcceptable = defineError(406, 'NOT_ACCEPTABLE', () => 'Answers are application/json or application/hal+json');

export interface RestOptions extends BridgeOptions {
  schema: GraphQLSchema;
  rows: readonly Row[];
  /** Prepares the part of the server that has the rows which consume forms. */
  readForms?(api: FastifyInstance): void;
  /** Makes the context of GraphQL's resolvers. It runs before the request is looked at, so it is the place to refuse a caller: `endpoint.public` says whether anybody may call. */
  contextFor(request: FastifyRequest, reply: FastifyReply, endpoint: Endpoint): object | Promise<object>;
}

/** Mounts the whole table under `/api`. Slips in the table are thrown here, before anything listens. */
export function registerRest(app: FastifyInstance, options: RestOptions): Endpoint[] {
  const endpoints = compileRows(options.schema, options.rows, options);
  const carry = createSofaRunner(endpoints);
  const scope = (wanted: (consumes: string) => boolean, prepare: (scope: FastifyInstance) => void) =>
    app.register(
      async (api) => {
        prepare(api);
        api.setErrorHandler(sendError);
        for (const endpoint of endpoints)
          if (wanted(endpoint.row.options.consumes ?? 'json')) mount(api, endpoint, options, carry);
      },
      { prefix: '/api' },
    );
  void scope((consumes) => consumes === 'json', acceptOnlyJson);
  void scope(
    (consumes) => consumes === 'multipart',
    (api) => options.readForms?.(api),
  );
  void scope(
    (consumes) => consumes === 'bytes',
    (api) => {
      leaveBodiesUnread(api);
      api.setNotFoundHandler(createFallbackHandler(endpoints));
    },
  );
  return endpoints;
}

function mount(api: FastifyInstance, endpoint: Endpoint, options: RestOptions, carry: RunPlainRow): void {
  const { row } = endpoint;
  const rest = /:(\w+)\*$/.exec(row.path)?.[1];
  const url = rest === undefined ? row.path : row.path.replace(/:\w+\*$/, '*');
  const call = createCallFactory(endpoint, options, rest);
  const handler = row.options.handler
    ? createAdapterHandler(endpoint, call)
    : row.plain
      ? createPlainHandler(endpoint, call, carry)
      : row.options.consumes === 'multipart'
        ? createFormHandler(endpoint, call)
        : createRowHandler(endpoint, call);
  api.route({
    method: row.method,
    url,
    handler,
    bodyLimit: MAX_JSON_BYTES,
    exposeHeadRoute: row.method === 'GET' && row.options.produces !== 'text/event-stream',
  });
}

type CreateCall = (request: FastifyRequest, reply: FastifyReply) => Promise<Call>;

/** What the bridge needs of a request, with its context. */
function createCallFactory(endpoint: Endpoint, { contextFor }: RestOptions, rest: string | undefined): CreateCall {
  const changes = endpoint.row.method === 'PUT' || endpoint.row.method === 'DELETE';
  return async (request, reply) => {
    const made = contextFor(request, reply, endpoint);
    const context = made instanceof Promise ? await made : made;
    const { url, headers, query, body } = request;
    const ifMatch = changes ? allowedVersions(headers['if-match']) : undefined;
    if (ifMatch) (context as BridgeContext).ifMatch = ifMatch;
    checkQueryEncoding(url);
    const params = request.params as Record<string, string>;
    return {
      context,
      url,
      body,
      query: query as Call['query'],
      respondAsync: prefersAsync(headers['prefer']),
      params: rest === undefined ? params : { ...params, [rest]: params['*']! },
    };
  };
}

/** The parser of query strings keeps what it cannot decode; a client should hear of it. */
function checkQueryEncoding(url: string): void {
  const question = url.indexOf('?');
  if (question < 0 || !url.includes('%', question)) return;
  try {
    decodeURIComponent(url.slice(question));
  } catch {
    throw badInput('The query string is not well-formed percent-encoding');
  }
}

function negotiateContentType(request: FastifyRequest): string {
  const type = chooseContentType(request.headers.accept);
  if (type === undefined) throw notAcceptable();
  return type;
}

const createRowHandler =
  (endpoint: Endpoint, call: CreateCall): RouteHandlerMethod =>
  async (request, reply) => {
    const type = negotiateContentType(request);
    return sendResponse(await endpoint.run(await call(request, reply)), type, request, reply);
  };

/** A row whose body is a form. The caller is known before anything of it is read, and answered before the rest of it is. */
const createFormHandler = (endpoint: Endpoint, call: CreateCall): RouteHandlerMethod => {
  const read = createFormReader(endpoint.parser!);
  return async (request, reply) => {
    const type = negotiateContentType(request);
    const made = await call(request, reply);
    const form = await read(request, made.params);
    try {
      return sendResponse(await endpoint.run({ ...made, body: form.body }), type, request, reply);
    } finally {
      form.end();
    }
  };
};

const createPlainHandler =
  (endpoint: Endpoint, call: CreateCall, carry: RunPlainRow): RouteHandlerMethod =>
  async (request, reply) => {
    const type = negotiateContentType(request);
    const { status, text } = await carry(endpoint, await call(request, reply));
    reply.code(status).header('content-type', type);
    return text;
  };

const createAdapterHandler =
  (endpoint: Endpoint, call: CreateCall): RouteHandlerMethod =>
  async (request, reply) => {
    const made = await call(request, reply);
    const { status, handler } = endpoint.row.options;
    if (typeof status === 'number') reply.code(status);
    const answer = await handler!({
      ...made,
      request,
      reply,
      run: (args = {}) => endpoint.run(made, args),
      subscribe: (args = {}) => endpoint.subscribe(made, args),
    });
    return answer === undefined ? reply : answer;
  };

/** Sends an answer: a record with its ETag, or 304 when the client has it; no body for a 204. */
function sendResponse(
  { status, body, headers, version, single }: RestResponse,
  type: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | string {
  if (headers) reply.headers(headers);
  if (status !== 200) reply.code(status);
  if (body === undefined) return reply.send();
  const text = JSON.stringify(body);
  if (single && status === 200 && request.method !== 'POST') {
    const tag = entityTag(version, text);
    reply.header('etag', tag);
    if (request.method !== 'PUT' && matchesEntityTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  }
  reply.header('content-type', type);
  return text;
}

/** The one place where an error becomes an answer; exceptions of ours are logged with their stack. */
export function sendError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const { status, headers, body } = errorResponse(error, request.id);
  if (body.code === 'INTERNAL')
    request.log.error(
      { requestId: request.id, err: (error as { originalError?: Error }).originalError ?? error },
      'request failed',
    );
  // A stream that broke before its first byte left has said what it would be.
  for (const name of ['content-encoding', 'content-disposition']) reply.removeHeader(name);
  reply.code(status).headers(headers).header('content-type', 'application/json; charset=utf-8');
  void reply.send(JSON.stringify(body));
}

/** What no route of ours took: 204 with `Allow` for OPTIONS, 405 with `Allow` on a known path, else 404. */
function createFallbackHandler(endpoints: readonly Endpoint[]): RouteHandlerMethod {
  const known = endpoints.map(({ row }) => ({ method: row.method, path: toPattern(row.path) }));
  return (request, reply) => {
    const path = request.url.split('?')[0]!;
    const methods = new Set(
      known
        .filter((route) => route.path.test(path))
        .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
    );
    if (methods.size === 0) throw noRoute({ method: request.method, path });
    reply.header('allow', [...methods, 'OPTIONS'].join(', '));
    if (request.method !== 'OPTIONS') throw methodNotAllowed({ method: request.method, path });
    void reply.code(204).send();
  };
}

const toPattern = (path: string): RegExp =>
  new RegExp(
    `^/api${path
      .replace(/[.]/g, '\\.')
      .replace(/:\w+\*$/, '.*')
      .replace(/:\w+/g, '[^/]+')}$`,
  );
