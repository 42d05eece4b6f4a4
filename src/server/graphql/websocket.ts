import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  execute,
  getOperationAST,
  GraphQLError,
  subscribe,
  type ExecutionArgs,
  type GraphQLFormattedError,
} from 'graphql';
import { CloseCode, type Context as SocketContext, type SubscribePayload } from 'graphql-ws';
import { makeHandler } from 'graphql-ws/use/@fastify/websocket';
import type { WebSocket } from 'ws';
import { addressRange } from '../../core/address-range.ts';
import type { PublicContext } from '../../core/context.ts';
import { badInput, unauthenticated } from '../../core/errors.ts';
import type { KeyedRequest } from '../../core/idempotency.ts';
import { logFailure } from '../../core/log-failure.ts';
import { countSocketOperation } from '../../core/metrics.ts';
import { PerUserLimit } from '../../core/per-user-limit.ts';
import type { Credential } from '../../services/identity/credential.ts';
import { createViewerContext } from '../../services/resource/viewer-context.ts';
import { identify } from '../request-context.ts';
import { credentialOf, isCrossSite, SESSION_COOKIE } from '../request.ts';
import { traceSocketOperation } from '../tracing.ts';
import { clientNamesOf } from './client-names.ts';
import { formatError, isUnexpected } from './format-error.ts';
import type { GraphqlOptions } from './graphql.ts';
import { openMutation, runKeyedMutation } from './keyed-operations.ts';
import type { OperationPreparer } from './prepare-operation.ts';
import { endCompleted, endConnection, endOperation, startOperation, type SocketExtra } from './socket-operations.ts';
import { UnreadMessages } from './unread-messages.ts';
import { describeRefusedValues } from './value-issues.ts';
import { TOO_MANY, WaitingSockets } from './waiting-sockets.ts';

type Socket = SocketContext<Record<string, unknown>, SocketExtra>;

/** Maximum number of open sockets of one user in this process. */
const MAX_SOCKETS = 50;
/** Maximum number of open operations of one socket. */
const MAX_OPEN_OPERATIONS = 100;

type SocketOptions = Pick<
  GraphqlOptions,
  'schema' | 'responses' | 'platform' | 'authenticator' | 'limiter' | 'clientDocuments' | 'fieldUsage' | 'acceptKey'
> & { operations: OperationPreparer };

/** Mutations with idempotency keys, by their contexts. */
type KeyedMutations = WeakMap<object, KeyedRequest>;

/**
 * Creates the handler of GraphQL over WebSocket (`graphql-transport-ws`). Credentials are `connectionParams:
 * {authorization}`, or the session cookie of an upgrade that comes from the same origin or from `CORS_ORIGINS`, as over
 * HTTP. The socket is closed with 4403 without valid credentials, and when the user is disabled or the credential ends;
 * with 4429 above a limit of open sockets. See docs/contract/apis.md#graphql.
 */
export function createSocketHandler(options: SocketOptions) {
  const { schema, responses, clientDocuments } = options;
  const readSchema = async ({ document, operationName, variableValues, contextValue }: ExecutionArgs) =>
    responses.run(
      { document, operation: getOperationAST(document, operationName)!, variables: variableValues ?? {} },
      contextValue as PublicContext,
    );
  const keyed: KeyedMutations = new WeakMap();
  const runMutation = async ({ document, operationName, variableValues, contextValue }: ExecutionArgs) => {
    const opened = keyed.get(contextValue as PublicContext);
    if (!opened) return null;
    const operation = getOperationAST(document, operationName)!;
    const mutation = { document, operation, variables: variableValues ?? {} };
    return runKeyedMutation(schema, mutation, contextValue as PublicContext, opened);
  };
  const sockets = new PerUserLimit(MAX_SOCKETS);
  const waiting = new WaitingSockets();
  const unread = new UnreadMessages();
  const handle = makeHandler<Record<string, unknown>, SocketExtra>({
    connectionInitWaitTimeout: 10_000,
    // Hides internal errors from clients.
    isProd: true,
    onConnect: async (socket) => {
      const isAccepted = await acceptConnection(options, sockets, unread, socket as Socket);
      if (isAccepted) waiting.authenticated((socket as Socket).extra.socket);
      return isAccepted;
    },
    onClose: ({ extra }) => endConnection(extra as SocketExtra),
    onSubscribe: async (socket, id, payload) => {
      const prepared = await prepareOperation(options, keyed, socket as Socket, id, payload).catch((error: Error) => [
        error instanceof GraphQLError ? error : new GraphQLError(error.message, { originalError: error }),
      ]);
      if (Array.isArray(prepared)) endOperation(socket.extra as SocketExtra, id, payload);
      return prepared;
    },
    execute: (args: ExecutionArgs) =>
      traceSocketOperation(args, async () => (await runMutation(args)) ?? (await readSchema(args)) ?? execute(args)),
    subscribe: (args: ExecutionArgs) => traceSocketOperation(args, subscribe),
    onNext: ({ extra }, _id, _payload, args, result) => {
      unread.limit(extra.caller!.viewer.userId);
      const warnings = clientDocuments.warningsOf((args.contextValue as PublicContext).request);
      const extended = warnings && { ...result, extensions: { ...result.extensions, ...warnings } };
      if (!result.errors) return extended as never;
      const { document, operationName, variableValues } = args;
      const request = { schema, document, operationName, variables: variableValues ?? {} };
      const errors = describeRefusedValues(result.errors as GraphQLError[], request);
      return { ...result, ...extended, errors: formatErrors(extra, errors) } as never;
    },
    onComplete: ({ extra }, id, payload) => endOperation(extra as SocketExtra, id, payload),
    onError: ({ extra }, _id, _payload, errors) => formatErrors(extra as SocketExtra, errors) as never,
  } as Parameters<typeof makeHandler<Record<string, unknown>, SocketExtra>>[0] & { isProd: boolean });
  return function (this: FastifyInstance, socket: WebSocket, request: FastifyRequest) {
    return waiting.add(socket, addressRange(request.ip)) ? handle.call(this, socket, request) : undefined;
  };
}

/** Maximum length of the reason with which a socket is closed, as WebSocket defines it. */
const MAX_REASON_CHARACTERS = 123;

/** Closes a socket that has the session cookie without proof of its origin. */
function refuseOrigin({ socket, request }: SocketExtra): void {
  const { origin } = request.headers;
  const reason = origin ? `Origin ${origin} is not in CORS_ORIGINS` : 'Forbidden';
  request.log.warn({ requestId: request.id, origin }, `A socket was refused: ${reason}`);
  socket.close(CloseCode.Forbidden, reason.replaceAll(/[^ -~]/g, '?').slice(0, MAX_REASON_CHARACTERS));
}

const closeForbidden = ({ socket }: SocketExtra) => socket.close(CloseCode.Forbidden, 'Forbidden');

/** Authenticates a socket. Returns false for invalid credentials, and when the user has too many sockets. */
async function acceptConnection(
  { authenticator, limiter, platform }: SocketOptions,
  sockets: PerUserLimit,
  unread: UnreadMessages,
  { extra, connectionParams }: Socket,
): Promise<boolean> {
  const credential = findCredential(extra.request, connectionParams);
  const { request } = extra;
  if (credential?.method === 'session' && isCrossSite(request, platform.config.CORS_ORIGINS)) {
    refuseOrigin(extra);
    return false;
  }
  const viewer = credential && (await identify(credential, request.ip, authenticator, limiter));
  if (!credential || !viewer) return false;
  const releaseSocket = sockets.acquire(viewer.userId);
  if (!releaseSocket) {
    extra.socket.close(TOO_MANY, `A user may have at most ${MAX_SOCKETS} open sockets`);
    return false;
  }
  const socketViewer = { ...viewer };
  const unwatch = authenticator.watch(credential, viewer, {
    onChange: (changed) => {
      Object.assign(socketViewer, changed);
    },
    onEnd: () => closeForbidden(extra),
  });
  const forgetSocket = unread.add(viewer.userId, extra.socket);
  ignoreUnsentMessages(extra.socket);
  const stop = () => {
    unwatch();
    forgetSocket();
    releaseSocket();
  };
  extra.caller = { credential, viewer: socketViewer, operations: new Map(), stop };
  extra.socket.on('message', (data: Buffer) => endCompleted(extra, data));
  // The client may have disconnected in the meantime.
  if (extra.socket.readyState !== extra.socket.OPEN) endConnection(extra);
  return true;
}

/** Checks the caller and the document of an operation. Returns the arguments of the execution, or the validation errors. */
async function prepareOperation(
  { platform, authenticator, limiter, operations, clientDocuments, fieldUsage, acceptKey }: SocketOptions,
  keyed: KeyedMutations,
  { extra, subscriptions }: Socket,
  id: string,
  payload: SubscribePayload,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const caller = extra.caller!;
  // Before the first `await`: a client may complete the operation immediately.
  const request = startOperation(extra, id, payload);
  const current = await authenticator.authenticate(caller.credential);
  if (!current) {
    closeForbidden(extra);
    throw unauthenticated();
  }
  const viewer = Object.assign(caller.viewer, current);
  limiter.count(viewer.userId);
  if (Object.keys(subscriptions).length > MAX_OPEN_OPERATIONS)
    throw badInput(`A socket may have at most ${MAX_OPEN_OPERATIONS} open operations`);
  const text = await clientDocuments.resolveOnSocket(payload, { viewer, request });
  const context = createViewerContext(platform, request, viewer);
  const prepared = await operations.prepare({ ...payload, query: text }, context);
  if (Array.isArray(prepared)) return prepared;
  const { document } = prepared as ExecutionArgs;
  const operation = getOperationAST(document, payload.operationName)!;
  const described = { name: operation.name?.value ?? null, type: operation.operation };
  extra.request.log.debug(
    { requestId: request.id, operation: described.name, type: described.type },
    'Operation started',
  );
  const { headers } = extra.request;
  const names = clientNamesOf((name) => headers[name] as string | undefined);
  fieldUsage.count(document, operation, viewer, names);
  countSocketOperation({ ...described, mayBeLabel: true });
  if (operation.operation === 'mutation') {
    acceptKey(context, payload.extensions?.['idempotencyKey']);
    const opened = await openMutation(context, { operation, variables: payload.variables ?? {} }, text);
    if (opened) keyed.set(context, opened);
  }
  return prepared;
}

/** Formats errors as over HTTP. Logs the unexpected ones. */
function formatErrors(
  { request, socket }: SocketExtra,
  errors: readonly (GraphQLError | GraphQLFormattedError)[],
): GraphQLFormattedError[] {
  return errors.map((error) => {
    if (!(error instanceof GraphQLError)) return formatError(error, error);
    const hasClientLeft = socket.readyState !== socket.OPEN || error.originalError?.name === 'AbortError';
    if (isUnexpected(error))
      logFailure(
        request.log,
        { requestId: request.id, err: error.originalError, path: error.path },
        'Resolver failed',
        hasClientLeft,
      );
    return formatError(error.toJSON(), error);
  });
}

/** Returns the credential of a socket: the authorization of its parameters or its upgrade, else the session cookie. */
function findCredential(
  { headers, cookies }: FastifyRequest,
  params: Record<string, unknown> | undefined,
): Credential | null {
  const authorization = params?.['authorization'] ?? params?.['Authorization'] ?? headers.authorization;
  return credentialOf(typeof authorization === 'string' ? authorization : undefined, cookies[SESSION_COOKIE]);
}

/**
 * Lets a message that could not be sent because its client disconnected count as sent. Otherwise graphql-ws prints an
 * internal error for each one.
 */
function ignoreUnsentMessages(socket: WebSocket): void {
  const send = socket.send.bind(socket) as (data: string, sent: (error?: Error) => void) => void;
  socket.send = (data: unknown, sent: unknown) =>
    send(data as string, (error) =>
      (sent as ((error?: Error) => void) | undefined)?.(socket.readyState === socket.OPEN ? error : undefined),
    );
}
