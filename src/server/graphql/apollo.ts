import {
  ApolloServer,
  HeaderMap,
  type ApolloServerPlugin,
  type GraphQLResponse,
  type HTTPGraphQLHead,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { BREAK, GraphQLError, visit, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { toApiError } from '../../core/api-error.ts';
import type { PublicContext } from '../../core/context.ts';
import { badInput, unauthenticated } from '../../core/errors.ts';
import { checkLimits, MAX_TOKENS } from '../../core/limits/limits.ts';
import type { Platform } from '../../core/platform.ts';
import { checkOrigin } from '../request.ts';
import { compiledDocuments } from './compiled-documents.ts';
import { formatError } from './format-error.ts';

const REQUEST_STATUSES = new Set([401, 429]);

/**
 * What is ours of every request, in one plugin because each costs a promise a hook: the origin of changes and limits before anything runs, with the cost echoed; without
 * `PUBLIC_SCHEMA`, who asks for the schema must be somebody; compiled documents run; errors logged; HTTP statuses.
 */
const requestPlugin = (
  schema: GraphQLSchema,
  publicSchema: boolean,
  compiled = compiledDocuments(schema),
): ApolloServerPlugin<PublicContext> => ({
  async requestDidStart() {
    let cost = 0;
    return {
      async didResolveOperation({ document, request, operation, operationName, contextValue }) {
        if (operation?.operation === 'mutation') checkOrigin(contextValue.request);
        if (operation?.operation === 'subscription')
          throw badInput('Subscriptions travel by WebSocket, on this same address');
        cost = checkLimits(document, schema, request.variables ?? {}, operationName ?? undefined).cost;
        if (!publicSchema && !contextValue.viewer && readsSchema(document)) throw unauthenticated();
      },
      async responseForOperation({ document, request, contextValue }) {
        const result = await compiled(document)?.(contextValue, request.variables ?? {});
        return result ? toApolloResponse(result, contextValue) : null;
      },
      async didEncounterErrors({ errors, contextValue }) {
        for (const error of errors) logUnexpected(error, contextValue);
      },
      async willSendResponse({ response, errors }) {
        const ran = response.body.kind !== 'single' || response.body.singleResult.data !== undefined;
        if (errors?.length) setStatus(response.http, errors, ran);
        if (response.body.kind === 'single' && cost > 0)
          response.body.singleResult.extensions = { ...response.body.singleResult.extensions, cost };
      },
    };
  },
});

/** The answer of a document that ran past Apollo's executor, errors formatted, logged and turned into a status as Apollo's are. */
function toApolloResponse({ data, errors }: ExecutionResult, context: PublicContext): GraphQLResponse {
  const http: HTTPGraphQLHead = { status: undefined, headers: new HeaderMap() };
  for (const error of errors ?? []) logUnexpected(error, context);
  if (errors) setStatus(http, errors, true);
  return {
    http,
    body: {
      kind: 'single',
      singleResult: { ...(errors && { errors: errors.map((error) => formatError(error.toJSON(), error)) }), data },
    },
  };
}

/** HTTP statuses of GraphQL: 401 without valid credentials, 429, that of its fault for what never ran (400 for limits), otherwise 200 with errors (contract 4). */
function setStatus(http: HTTPGraphQLHead, errors: readonly GraphQLError[], ran: boolean): void {
  const faults = errors.map((error) => toApiError(error));
  const decisive = faults.find((fault) => fault && (!ran || REQUEST_STATUSES.has(fault.status)));
  if (decisive) http.status = decisive.status;
  if (http.status === 401) http.headers.set('www-authenticate', 'Bearer');
  for (const fault of faults)
    for (const [name, value] of Object.entries(fault?.headers ?? {})) http.headers.set(name, value);
}

/** Whether a document names `__schema` or `__type` anywhere, fragments included. */
function readsSchema(document: DocumentNode): boolean {
  let asks = false;
  visit(document, {
    Field({ name }) {
      asks = name.value === '__schema' || name.value === '__type';
      return asks ? BREAK : undefined;
    },
  });
  return asks;
}

/** Unexpected errors go to the log with all they have; clients are told only that there was one. */
function logUnexpected(error: GraphQLError, { platform, request }: PublicContext): void {
  // Without a path nothing ran yet: the document is wrong, and its complaint quotes what the client wrote.
  if (toApiError(error) || !(error instanceof GraphQLError) || !error.originalError || !error.path) return;
  platform?.log.error({ err: error.originalError, path: error.path, requestId: request?.id }, 'A resolver failed');
}

/**
 * Apollo, for Fastify's port. Introspection is for everybody with `PUBLIC_SCHEMA`, otherwise for callers with credentials. The pages are ours:
 * Apollo's own would load another site.
 */
export function createApollo(
  schema: GraphQLSchema,
  { config, log }: Pick<Platform, 'config' | 'log'>,
): ApolloServer<PublicContext> {
  return new ApolloServer<PublicContext>({
    schema,
    introspection: true,
    formatError,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: MAX_TOKENS },
    stopOnTerminationSignals: false,
    logger: log,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      requestPlugin(schema, config.PUBLIC_SCHEMA),
    ],
  });
}
