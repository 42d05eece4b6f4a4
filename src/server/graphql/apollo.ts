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
import { BREAK, visit, type DocumentNode, type ExecutionResult, type GraphQLError, type GraphQLSchema } from 'graphql';
import { toApiError } from '../../core/api-error.ts';
import { checkOrigin } from '../../core/check-origin.ts';
import type { PublicContext } from '../../core/context.ts';
import { badInput, unauthenticated } from '../../core/errors.ts';
import { checkLimits, MAX_TOKENS } from '../../core/limits/limits.ts';
import { logFailure } from '../../core/log-failure.ts';
import type { Platform } from '../../core/platform.ts';
import { failCurrentSpan, spanCode } from '../../core/tracing.ts';
import { createCompiledRunner } from './compiled-documents.ts';
import { formatError, isUnexpected } from './format-error.ts';
import { checkVariables } from './variables.ts';

/** Statuses that apply to the whole request, even when parts of it ran. */
const REQUEST_STATUSES = new Set([401, 429]);

/**
 * Creates the plugin with the rules of this service. It is a single plugin, because each plugin costs a promise for
 * each hook.
 * - Before a document runs: the origin of mutations, the limits, and credentials for introspection without
 *   `PUBLIC_SCHEMA`.
 * - Compiled documents run on graphql-jit instead of Apollo's executor.
 * - Unexpected errors are logged, the HTTP status is set, and the cost is returned in `extensions`.
 */
const createRequestPlugin = (
  schema: GraphQLSchema,
  publicSchema: boolean,
  runCompiled = createCompiledRunner(schema),
): ApolloServerPlugin<PublicContext> => ({
  async requestDidStart() {
    let cost = 0;
    return {
      async didResolveOperation({ document, request, operation, operationName, contextValue }) {
        const described = operation && { name: operationName, type: operation.operation };
        if (described) contextValue.request.setOperation({ ...described, mayBeLabel: false });
        if (operation?.operation === 'mutation') checkOrigin(contextValue.request);
        if (operation?.operation === 'subscription')
          throw badInput('Subscriptions require a WebSocket connection to this URL');
        checkVariables(request.variables);
        cost = checkLimits(document, schema, request.variables ?? {}, operationName ?? undefined).cost;
        if (!publicSchema && !contextValue.viewer && readsSchema(document)) throw unauthenticated();
        if (described && contextValue.viewer) contextValue.request.setOperation({ ...described, mayBeLabel: true });
      },
      async responseForOperation({ document, request, contextValue }) {
        const result = await runCompiled(document, contextValue, request.variables ?? {});
        return result ? toApolloResponse(result, contextValue) : null;
      },
      async didEncounterErrors({ errors, contextValue }) {
        logUnexpectedErrors(errors, contextValue);
      },
      async willSendResponse({ response, errors }) {
        const ran = response.body.kind !== 'single' || response.body.singleResult.data !== undefined;
        if (errors?.length) {
          failCurrentSpan(spanCode(errors[0]));
          setStatus(response.http, errors, ran);
        }
        if (response.body.kind === 'single' && cost > 0)
          response.body.singleResult.extensions = { ...response.body.singleResult.extensions, cost };
      },
    };
  },
});

/**
 * Returns the response of a compiled document. Errors are formatted and logged, and set the status, as Apollo does for
 * other documents.
 */
function toApolloResponse({ data, errors }: ExecutionResult, context: PublicContext): GraphQLResponse {
  const http: HTTPGraphQLHead = { status: undefined, headers: new HeaderMap() };
  if (errors) {
    logUnexpectedErrors(errors, context);
    failCurrentSpan(spanCode(errors[0]));
    setStatus(http, errors, true);
  }
  return {
    http,
    body: {
      kind: 'single',
      singleResult: { ...(errors && { errors: errors.map((error) => formatError(error.toJSON(), error)) }), data },
    },
  };
}

/**
 * Sets the HTTP status of a response with errors: 401 and 429 for the whole request, the status of its error for a
 * document that did not run (e.g. 400 for limits), otherwise 200. See docs/contract.md#graphql.
 */
function setStatus(http: HTTPGraphQLHead, errors: readonly GraphQLError[], ran: boolean): void {
  const apiErrors = errors.map((error) => toApiError(error));
  const decisive = apiErrors.find((error) => error && (!ran || REQUEST_STATUSES.has(error.status)));
  if (decisive) http.status = decisive.status;
  if (http.status === 401) http.headers.set('www-authenticate', 'Bearer');
  for (const error of apiErrors)
    for (const [name, value] of Object.entries(error?.headers ?? {})) http.headers.set(name, value);
}

/** Logs the errors of which clients receive only a general message. */
function logUnexpectedErrors(errors: readonly GraphQLError[], { platform, request }: PublicContext): void {
  for (const error of errors)
    if (isUnexpected(error))
      logFailure(
        platform.log,
        { err: error.originalError, path: error.path, requestId: request.id },
        'Resolver failed',
        request.signal.aborted,
      );
}

/** Returns whether a document selects `__schema` or `__type`, in fragments too. */
function readsSchema(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Field({ name }) {
      found = name.value === '__schema' || name.value === '__type';
      return found ? BREAK : undefined;
    },
  });
  return found;
}

/**
 * Creates the Apollo server. Introspection is public with `PUBLIC_SCHEMA`, otherwise it requires credentials.
 * Apollo's landing page is disabled, because it loads scripts from another site.
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
      createRequestPlugin(schema, config.PUBLIC_SCHEMA),
    ],
  });
}
