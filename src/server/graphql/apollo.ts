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
import { GraphQLError, type ExecutionResult, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { toApiError } from '../../core/api-error.ts';
import { checkOrigin } from '../../core/check-origin.ts';
import type { PublicContext } from '../../core/context.ts';
import { badInput, defineError, unauthenticated } from '../../core/errors.ts';
import type { KeyedRequest } from '../../core/idempotency.ts';
import { checkLimits, MAX_TOKENS } from '../../core/limits/limits.ts';
import type { Platform } from '../../core/platform.ts';
import { failCurrentSpan, spanCode } from '../../core/tracing.ts';
import type { FieldUsageCounter } from '../../services/client/field-usage.ts';
import { readsSchema } from '../../services/client/manifest.ts';
import type { ClientDocuments } from './client-documents.ts';
import { clientNamesOf } from './client-names.ts';
import { createCompiledRunner } from './compiled-documents.ts';
import type { DocumentStore, PersistedQueries } from './document-store.ts';
import type { DocumentThread } from './document-thread.ts';
import { formatError, logUnexpectedErrors, presentErrors } from './format-error.ts';
import { openMutation, runKeyedMutation } from './keyed-operations.ts';
import { requiresCredentials } from './required-credentials.ts';
import type { SchemaResponses } from './schema-responses.ts';
import { describeRefusedValues } from './value-issues.ts';
import { checkValues } from './variables.ts';

/** The readers of documents and of the schema. */
export interface SchemaReaders {
  documents: DocumentStore;
  persistedQueries: PersistedQueries;
  thread: DocumentThread;
  responses: SchemaResponses;
  clientDocuments: ClientDocuments;
  fieldUsage: FieldUsageCounter;
}

/** The errors of a document that is not valid, as the one error that a plugin can throw. */
class InvalidDocument extends GraphQLError {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super(errors[0]!.message);
    // As of the errors that Apollo finds itself. Another package declares `http` as a plain object.
    const http: HTTPGraphQLHead = { status: 400, headers: new HeaderMap() };
    const extensions = { code: 'GRAPHQL_VALIDATION_FAILED', http: http as object };
    this.errors = errors.map(
      ({ message, nodes, source, positions }) => new GraphQLError(message, { nodes, source, positions, extensions }),
    );
  }
}

/**
 * Headers that browsers send to another origin only after a preflight. A GET, and a POST of a simple media type, must have
 * one of them: Apollo's two, and the header of GraphQL over HTTP.
 */
export const PREFLIGHT_HEADERS = ['x-apollo-operation-name', 'apollo-require-preflight', 'graphql-require-preflight'];

const mutationRequiresPost = defineError(405, 'METHOD_NOT_ALLOWED', () => 'A mutation requires POST');

/** Statuses of a document that ran and whose data is null. */
const REQUEST_STATUSES = new Set([401, 429]);

/**
 * Creates the plugin with the rules of this service. It is a single plugin, because each plugin costs a promise for
 * each hook.
 * - Before a document runs: whether it is valid, the origin of mutations, the limits, and credentials, for introspection too without
 *   `PUBLIC_SCHEMA`.
 * - Compiled documents run on graphql-jit instead of Apollo's executor.
 * - Unexpected errors are logged, the HTTP status is set, and the cost is returned in `extensions`.
 */
const createRequestPlugin = (
  schema: GraphQLSchema,
  publicSchema: boolean,
  { thread, responses, clientDocuments, fieldUsage }: SchemaReaders,
  runCompiled = createCompiledRunner(schema),
): ApolloServerPlugin<PublicContext> => ({
  async requestDidStart() {
    let cost = 0;
    let keyed: KeyedRequest | undefined;
    return {
      async didResolveOperation({ document, request, operation, operationName, contextValue, source }) {
        const described = operation && { name: operationName, type: operation.operation };
        if (described) contextValue.request.setOperation({ ...described, mayBeLabel: false });
        const invalid = await thread.validate(document, contextValue);
        if (invalid.length > 0) throw new InvalidDocument(invalid);
        if (operation?.operation === 'mutation') {
          if (contextValue.request.isSafe) throw mutationRequiresPost(undefined, { headers: { allow: 'POST' } });
          checkOrigin(contextValue.request);
        }
        checkValues(document, operation, request.variables);
        cost = checkLimits(document, schema, request.variables ?? {}, operationName ?? undefined).cost;
        if (!contextValue.viewer) {
          const variables = request.variables ?? {};
          const isPrivate =
            operation &&
            requiresCredentials(schema, {
              document,
              operation,
              variables,
              hasInvalid: contextValue.request.hasCredentials,
            });
          if (isPrivate || (!publicSchema && readsSchema(document)))
            throw unauthenticated(contextValue.request.cookieRefusal);
        }
        if (operation?.operation === 'subscription')
          throw badInput('Subscriptions require a WebSocket connection to this URL, or `Accept: text/event-stream`');
        if (described && contextValue.viewer) contextValue.request.setOperation({ ...described, mayBeLabel: true });
        if (operation?.operation === 'mutation' && contextValue.openKeyed)
          keyed = await openMutation(contextValue, { operation, variables: request.variables ?? {} }, source!);
        await thread.nextTurn(document);
        if (operation && contextValue.viewer) {
          const names = clientNamesOf((name) => request.http?.headers.get(name));
          fieldUsage.count(document, operation, contextValue.viewer, names);
        }
      },
      async responseForOperation({ document, operation, request, contextValue }) {
        // An unknown name of an operation: Apollo responds with the error.
        if (!(operation as OperationDefinitionNode | undefined)) return null;
        const variables = request.variables ?? {};
        const result =
          (keyed && (await runKeyedMutation(schema, { document, operation, variables }, contextValue, keyed))) ??
          (await responses.run({ document, operation, variables }, contextValue)) ??
          (await runCompiled(document, contextValue, variables));
        return result ? toApolloResponse(result, contextValue) : null;
      },
      async didEncounterErrors({ errors, document, request, operationName, contextValue }) {
        // Apollo sends the errors of this list.
        const sent = errors as GraphQLError[];
        const [refused] = sent;
        if (refused instanceof InvalidDocument) sent.splice(0, 1, ...refused.errors);
        const variables = request.variables ?? {};
        if (document)
          sent.splice(0, sent.length, ...describeRefusedValues(errors, { schema, document, operationName, variables }));
        logUnexpectedErrors(errors, contextValue);
      },
      async willSendResponse({ response, errors, contextValue }) {
        if (errors?.length) {
          failCurrentSpan(spanCode(errors[0]));
          setStatus(response.http, errors, response.body.kind === 'single' ? response.body.singleResult.data : {});
        }
        const warnings = clientDocuments.warningsOf(contextValue.request);
        if (response.body.kind === 'single' && (cost > 0 || warnings))
          response.body.singleResult.extensions = {
            ...response.body.singleResult.extensions,
            ...(cost > 0 && { cost }),
            ...warnings,
          };
      },
    };
  },
});

/**
 * Returns the response of a compiled document. Errors are formatted and logged, and set the status, as Apollo does for
 * other documents.
 */
function toApolloResponse({ data, errors, extensions }: ExecutionResult, context: PublicContext): GraphQLResponse {
  const http: HTTPGraphQLHead = { status: undefined, headers: new HeaderMap() };
  if (errors) {
    failCurrentSpan(spanCode(errors[0]));
    setStatus(http, errors, data);
  }
  return {
    http,
    body: {
      kind: 'single',
      singleResult: {
        ...(errors && { errors: presentErrors(errors, context) }),
        data,
        ...(extensions && { extensions: { ...extensions } }),
      },
    },
  };
}

/**
 * Sets the HTTP status of a response with errors. A document that did not run has the status of its error (e.g. 400 for
 * limits), a response whose data is null 401 or 429, any other 200. See docs/contract/apis.md#errors.
 */
function setStatus(http: HTTPGraphQLHead, errors: readonly GraphQLError[], data: object | null | undefined): void {
  const apiErrors = errors.map((error) => toApiError(error));
  const decisive = data
    ? undefined
    : apiErrors.find((error) => error && (data === undefined || REQUEST_STATUSES.has(error.status)));
  if (decisive) http.status = decisive.status;
  if (http.status === 401) http.headers.set('www-authenticate', 'Bearer');
  for (const error of apiErrors)
    for (const [name, value] of Object.entries(error?.headers ?? {})) http.headers.set(name, value);
}

/**
 * Creates the Apollo server. Introspection is public with `PUBLIC_SCHEMA`, otherwise it requires credentials.
 * Apollo's landing page is disabled, because it loads scripts from another site.
 */
export function createApollo(
  schema: GraphQLSchema,
  { config, log }: Pick<Platform, 'config' | 'log'>,
  readers: SchemaReaders,
): ApolloServer<PublicContext> {
  return new ApolloServer<PublicContext>({
    schema,
    introspection: true,
    csrfPrevention: { requestHeaders: PREFLIGHT_HEADERS },
    // The plugin validates documents.
    dangerouslyDisableValidation: true,
    stringifyResult: (result) => readers.responses.print(result),
    formatError,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: MAX_TOKENS },
    documentStore: readers.documents,
    persistedQueries: { cache: readers.persistedQueries },
    stopOnTerminationSignals: false,
    logger: log,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      createRequestPlugin(schema, config.PUBLIC_SCHEMA, readers),
    ],
  });
}
