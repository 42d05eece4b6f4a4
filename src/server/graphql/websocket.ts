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
import type { RequestInfo } from '../../core/context.ts';
import { badInput, unauthenticated } from '../../core/errors.ts';
import { checkLimits, parseLimited } from '../../core/limits/limits.ts';
import type { Viewer } from '../../core/viewer.ts';
import type { Credential } from '../../services/identity/credential.ts';
import { createViewerContext } from '../../services/resource/viewer-context.ts';
import { identify } from '../request-context.ts';
import { credentialOf, sameHost, SESSION_COOKIE } from '../request.ts';
import { formatError, isUnexpected } from './format-error.ts';
import type { GraphqlOptions } from './graphql.ts';
import { checkVariables } from './variables.ts';

/** The authenticated caller of a socket. */
interface SocketCaller {
  credential: Credential;
  /** Updated in place when the caller's permissions change, so that open operations see the change. */
  viewer: Viewer;
  stop: () => void;
  ended: AbortController;
}
type SocketExtra = { socket: WebSocket; request: FastifyRequest; caller?: SocketCaller };
type Socket = SocketContext<Record<string, unknown>, SocketExtra>;

/** Maximum number of open operations of one socket. */
const MAX_OPEN_OPERATIONS = 100;

type SocketOptions = Pick<GraphqlOptions, 'schema' | 'platform' | 'authenticator' | 'limiter'>;

/**
 * Creates the handler of GraphQL over WebSocket (`graphql-transport-ws`). Credentials are `connectionParams:
 * {authorization}`, or the session cookie of a same-origin upgrade. The socket is closed with 4403 without valid
 * credentials, and when the user is disabled or the credential ends. See docs/contract.md#graphql.
 */
export function createSocketHandler(options: SocketOptions) {
  return makeHandler<Record<string, unknown>, SocketExtra>({
    connectionInitWaitTimeout: 10_000,
    // Hides internal errors from clients.
    isProd: true,
    onConnect: (socket) => acceptConnection(options, socket as Socket),
    onClose: ({ extra }) => endConnection(extra as SocketExtra),
    onSubscribe: (socket, _id, payload) =>
      prepareOperation(options, socket as Socket, payload).catch((error: Error) => [
        error instanceof GraphQLError ? error : new GraphQLError(error.message, { originalError: error }),
      ]),
    execute,
    subscribe,
    onNext: ({ extra }, _id, _payload, _args, result) =>
      result.errors ? ({ ...result, errors: formatErrors(extra as SocketExtra, result.errors) } as never) : undefined,
    onError: ({ extra }, _id, _payload, errors) => formatErrors(extra as SocketExtra, errors) as never,
  } as Parameters<typeof makeHandler<Record<string, unknown>, SocketExtra>>[0] & { isProd: boolean });
}

const closeForbidden = ({ socket }: SocketExtra) => socket.close(CloseCode.Forbidden, 'Forbidden');

/** Authenticates a socket. Returns false for invalid credentials. */
async function acceptConnection(
  { authenticator, limiter }: SocketOptions,
  { extra, connectionParams }: Socket,
): Promise<boolean> {
  const credential = findCredential(extra.request, connectionParams);
  const viewer = credential && (await identify(credential, extra.request.ip, authenticator, limiter));
  if (!credential || !viewer) return false;
  const ended = new AbortController();
  const socketViewer = { ...viewer };
  const stop = authenticator.watch(credential, viewer, {
    onChange: (changed) => {
      Object.assign(socketViewer, changed);
    },
    onEnd: () => closeForbidden(extra),
  });
  extra.caller = { credential, viewer: socketViewer, ended, stop };
  // The client may have disconnected in the meantime.
  if (extra.socket.readyState !== extra.socket.OPEN) endConnection(extra);
  return true;
}

/** Checks the caller and the document of an operation. Returns what to execute, or the validation errors. */
async function prepareOperation(
  { schema, platform, authenticator, limiter }: SocketOptions,
  { extra, subscriptions }: Socket,
  { query, variables, operationName }: SubscribePayload,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const caller = extra.caller!;
  const current = await authenticator.authenticate(caller.credential);
  if (!current) {
    closeForbidden(extra);
    throw unauthenticated();
  }
  const viewer = Object.assign(caller.viewer, current);
  limiter.count(viewer.userId);
  if (Object.keys(subscriptions).length > MAX_OPEN_OPERATIONS)
    throw badInput(`A socket may have at most ${MAX_OPEN_OPERATIONS} open operations`);
  const document = parseLimited(query);
  const errors = validate(schema, document);
  // Without the original error of a scalar: the document is invalid, this is no unexpected exception.
  if (errors.length) return errors.map(({ message, nodes }) => new GraphQLError(message, { nodes }));
  if (!getOperationAST(document, operationName)) throw badInput('The document does not contain this operation');
  checkVariables(variables);
  checkLimits(document, schema, variables ?? {}, operationName ?? undefined);
  return {
    schema,
    document,
    variableValues: variables,
    operationName,
    contextValue: createViewerContext(platform, requestInfoOf(extra), viewer),
  };
}

/** Formats errors as over HTTP. Logs the unexpected ones. */
function formatErrors(
  { request }: SocketExtra,
  errors: readonly (GraphQLError | GraphQLFormattedError)[],
): GraphQLFormattedError[] {
  return errors.map((error) => {
    if (!(error instanceof GraphQLError)) return formatError(error, error);
    if (isUnexpected(error))
      request.log.error({ requestId: request.id, err: error.originalError, path: error.path }, 'Resolver failed');
    return formatError(error.toJSON(), error);
  });
}

function endConnection({ caller }: SocketExtra): void {
  caller?.stop();
  caller?.ended.abort();
}

/**
 * Returns the credential of a socket. The cookie is accepted on a same-origin upgrade only, because browsers send it
 * from any origin.
 */
function findCredential(
  { headers, cookies }: FastifyRequest,
  params: Record<string, unknown> | undefined,
): Credential | null {
  const cookie = headers.origin && sameHost(headers.origin, headers.host) ? cookies[SESSION_COOKIE] : undefined;
  const authorization = params?.['authorization'] ?? params?.['Authorization'] ?? headers.authorization;
  return credentialOf(typeof authorization === 'string' ? authorization : undefined, cookie);
}

const requestInfoOf = ({ request, caller }: SocketExtra): RequestInfo => ({
  id: request.id,
  address: request.ip,
  channel: 'websocket',
  userAgent: request.headers['user-agent'] ?? null,
  signal: caller!.ended.signal,
  setSession() {},
});
