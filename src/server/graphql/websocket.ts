import type { FastifyRequest } from 'fastify';
import {
  execute,
  getOperationAST,
  GraphQLError,
  subscribe,
  validate,
  type ExecutionArgs,
  type GraphQLFormattedError,
} from 'graphql';
import { CloseCode, type Context as SocketContext, type SubscribePayload } from 'graphql-ws';
import { makeHandler } from 'graphql-ws/use/@fastify/websocket';
import type { WebSocket } from 'ws';
import { toApiError } from '../../core/api-error.ts';
import type { RequestInfo } from '../../core/context.ts';
import { badInput, unauthenticated } from '../../core/errors.ts';
import { checkLimits, parseLimited } from '../../core/limits/limits.ts';
import type { Viewer } from '../../core/viewer.ts';
import type { Credential } from '../../services/identity/credential.ts';
import { createViewerContext } from '../../services/resource/viewer-context.ts';
import { identify } from '../request-context.ts';
import { credentialOf, sameHost, SESSION_COOKIE } from '../request.ts';
import { formatError } from './format-error.ts';
import type { GraphqlOptions } from './graphql.ts';

/** What is kept of a socket once its caller is known. `viewer` is the socket's own and always says what the caller may do now, in operations that are open too. */
interface Caller {
  credential: Credential;
  viewer: Viewer;
  stop: () => void;
  over: AbortController;
}
type Extra = { socket: WebSocket; request: FastifyRequest; caller?: Caller };
type Socket = SocketContext<Record<string, unknown>, Extra>;

/** Operations that one socket may have open at once. */
const MAX_OPEN = 100;

/**
 * GraphQL over WebSocket (`graphql-transport-ws`). Credentials come as `connectionParams: {authorization}` or as the session cookie of a same-origin
 * upgrade; without valid ones the socket is closed with 4403, as it is when the user is disabled or the credential ends.
 */
export function socketHandler({
  schema,
  platform,
  authenticator,
  limiter,
}: Omit<GraphqlOptions, 'apollo' | 'makeContext'>) {
  const close = ({ socket }: Extra) => socket.close(CloseCode.Forbidden, 'Forbidden');

  async function connected({ extra, connectionParams }: Socket): Promise<boolean> {
    const credential = credentialGiven(extra.request, connectionParams);
    const viewer = credential && (await identify(credential, extra.request.ip, authenticator, limiter));
    if (!credential || !viewer) return false;
    const over = new AbortController();
    const own = { ...viewer };
    const stop = authenticator.watch(credential, viewer, {
      onChange: (now) => {
        Object.assign(own, now);
      },
      onEnd: () => close(extra),
    });
    extra.caller = { credential, viewer: own, over, stop };
    // The client may have gone while we looked.
    if (extra.socket.readyState !== extra.socket.OPEN) ended(extra);
    return true;
  }

  async function prepared(
    { extra, subscriptions }: Socket,
    { query, variables, operationName }: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const caller = extra.caller!;
    const now = await authenticator.authenticate(caller.credential);
    if (!now) {
      close(extra);
      throw unauthenticated();
    }
    const viewer = Object.assign(caller.viewer, now);
    limiter.count(viewer.userId);
    if (Object.keys(subscriptions).length > MAX_OPEN)
      throw badInput(`A socket may have ${MAX_OPEN} operations open at once`);
    const document = parseLimited(query);
    const errors = validate(schema, document);
    // Without what a scalar threw: it is a complaint about the document, no exception of ours.
    if (errors.length) return errors.map(({ message, nodes }) => new GraphQLError(message, { nodes }));
    if (!getOperationAST(document, operationName)) throw badInput('The document has no such operation');
    checkLimits(document, schema, variables ?? {}, operationName ?? undefined);
    return {
      schema,
      document,
      variableValues: variables,
      operationName,
      contextValue: createViewerContext(platform, factsOf(extra), viewer),
    };
  }

  const formatted = (
    { request }: Extra,
    errors: readonly (GraphQLError | GraphQLFormattedError)[],
  ): GraphQLFormattedError[] =>
    errors.map((error) => {
      if (!(error instanceof GraphQLError)) return formatError(error, error);
      if (error.originalError && !toApiError(error))
        request.log.error({ requestId: request.id, err: error.originalError, path: error.path }, 'A resolver failed');
      return formatError(error.toJSON(), error);
    });

  return makeHandler<Record<string, unknown>, Extra>({
    connectionInitWaitTimeout: 10_000,
    // Whatever goes wrong inside is not the client's to read.
    isProd: true,
    onConnect: (socket) => connected(socket as Socket),
    onClose: ({ extra }) => ended(extra as Extra),
    onSubscribe: (socket, _id, payload) =>
      prepared(socket as Socket, payload).catch((error: Error) => [
        error instanceof GraphQLError ? error : new GraphQLError(error.message, { originalError: error }),
      ]),
    execute,
    subscribe,
    onNext: ({ extra }, _id, _payload, _args, result) =>
      result.errors ? ({ ...result, errors: formatted(extra as Extra, result.errors) } as never) : undefined,
    onError: ({ extra }, _id, _payload, errors) => formatted(extra as Extra, errors) as never,
  } as Parameters<typeof makeHandler<Record<string, unknown>, Extra>>[0] & { isProd: boolean });
}

function ended({ caller }: Extra): void {
  caller?.stop();
  caller?.over.abort();
}

/** A cookie counts on a same-origin upgrade only: browsers send it from anywhere, and no other rule protects a socket. */
function credentialGiven(
  { headers, cookies }: FastifyRequest,
  params: Record<string, unknown> | undefined,
): Credential | null {
  const cookie = headers.origin && sameHost(headers.origin, headers.host) ? cookies[SESSION_COOKIE] : undefined;
  const given = params?.['authorization'] ?? params?.['Authorization'] ?? headers.authorization;
  return credentialOf(typeof given === 'string' ? given : undefined, cookie);
}

const factsOf = ({ request, caller }: Extra): RequestInfo => ({
  id: request.id,
  address: request.ip,
  channel: 'websocket',
  userAgent: request.headers['user-agent'] ?? null,
  signal: caller!.over.signal,
  setSession() {},
});
