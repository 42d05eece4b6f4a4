import type { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  execute,
  getOperationAST,
  subscribe,
  type ExecutionArgs,
  type ExecutionResult,
  type OperationDefinitionNode,
} from 'graphql';
import { openEventStream, writeEvent } from '../../../rest-bridge/event-stream.ts';
import { parseAccept } from '../../../rest-bridge/negotiation.ts';
import type { PublicContext } from '../../core/context.ts';
import type { KeyedRequest } from '../../core/idempotency.ts';
import type { FieldUsageCounter } from '../../services/client/field-usage.ts';
import type { ClientDocuments } from './client-documents.ts';
import { clientNamesOf } from './client-names.ts';
import { presentErrors } from './format-error.ts';
import { openMutation, runKeyedMutation } from './keyed-operations.ts';
import type { OperationPreparer, SentOperation } from './prepare-operation.ts';
import type { SchemaResponses } from './schema-responses.ts';
import { describeRefusedValues } from './value-issues.ts';

const EVENT_STREAM = 'text/event-stream';
const JSON_TYPES = new Set(['application/graphql-response+json', 'application/json', 'application/*', '*/*']);

/** Returns whether a request accepts server-sent events, and whether it accepts no JSON. */
export function acceptsEvents(accept: string | undefined): { accepts: boolean; only: boolean } {
  if (!accept || !/event-stream/i.test(accept)) return { accepts: false, only: false };
  const types = parseAccept(accept).flatMap(({ type, quality }) => (quality > 0 ? [type] : []));
  const accepts = types.includes(EVENT_STREAM);
  return { accepts, only: accepts && !types.some((type) => JSON_TYPES.has(type)) };
}

/** The parts of the server that run operations of event streams. */
interface EventOptions {
  operations: OperationPreparer;
  responses: SchemaResponses;
  clientDocuments: ClientDocuments;
  fieldUsage: FieldUsageCounter;
}

/**
 * Sends the results of one operation as server-sent events, by the protocol of `graphql-sse` for distinct connections: an event
 * `next` for each result, then `complete`. The handler of that library is not used, because it keeps all results in memory that a client
 * does not read. Returns undefined for an operation that Apollo responds to: one that is refused before it runs, and a query
 * or mutation of a client that accepts JSON.
 */
export async function streamResults(
  { operations, responses, clientDocuments, fieldUsage }: EventOptions,
  operation: SentOperation,
  context: PublicContext,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<PassThrough | undefined> {
  // Apollo refuses it again, with the same error.
  const args = await operations.prepare(operation, context).catch(() => undefined);
  if (!args || !('document' in args)) return undefined;
  const definition = getOperationAST(args.document, args.operationName)!;
  const { operation: type, name } = definition;
  if (type !== 'subscription' && !acceptsEvents(request.headers.accept).only) return undefined;
  if (type === 'mutation' && (request.method !== 'POST' || context.request.isSafe || context.request.crossSite))
    return undefined;
  const keyed = type === 'mutation' && (await openKey(args, operation, context));
  if (keyed === null) return undefined;
  context.request.setOperation({ name: name?.value ?? null, type, mayBeLabel: true });
  const names = clientNamesOf((header) => request.headers[header] as string | undefined);
  fieldUsage.count(args.document, definition, context.viewer!, names);
  const warnings = clientDocuments.warningsOf(context.request);
  const found = await run(args, type, responses, keyed || undefined);
  const source = Symbol.asyncIterator in found ? found[Symbol.asyncIterator]() : undefined;
  const out = openEventStream(reply, () => void source?.return?.().catch(() => {}));
  // Some browsers open a stream with its first bytes.
  out.write(':\n\n');
  const write = (result: ExecutionResult) =>
    writeEvent(
      out,
      `event: next\ndata: ${JSON.stringify({ ...presentResult(args, result, context), ...(warnings && { extensions: warnings }) })}\n\n`,
    );
  const writeAll = async () => {
    if (!source) await write(found as ExecutionResult);
    else
      for (let next = await source.next(); !next.done && !out.destroyed; next = await source.next())
        await write(next.value);
    out.end('event: complete\ndata:\n\n');
  };
  writeAll().catch((error: Error) => out.destroy(error));
  return out;
}

/** Opens a mutation with the key of its request; undefined without one. Returns null for a key that Apollo refuses. */
const openKey = (
  { document, operationName }: ExecutionArgs,
  { query, variables }: SentOperation,
  context: PublicContext,
): Promise<KeyedRequest | undefined | null> =>
  openMutation(
    context,
    { operation: getOperationAST(document, operationName)!, variables: variables ?? {} },
    query,
  ).catch(() => null);

async function run(
  args: ExecutionArgs,
  type: OperationDefinitionNode['operation'],
  responses: SchemaResponses,
  keyed: KeyedRequest | undefined,
) {
  if (type === 'subscription') return subscribe(args);
  const { document, operationName, variableValues, contextValue } = args;
  const operation = getOperationAST(document, operationName)!;
  const query = { document, operation, variables: variableValues ?? {} };
  const result = keyed && (await runKeyedMutation(args.schema, query, contextValue as PublicContext, keyed));
  if (result) return result;
  return (await responses.run(query, contextValue as PublicContext)) ?? execute(args);
}

function presentResult(
  { schema, document, operationName, variableValues }: ExecutionArgs,
  result: ExecutionResult,
  context: PublicContext,
): object {
  if (!result.errors) return result;
  const request = { schema, document, operationName, variables: variableValues ?? {} };
  return { ...result, errors: presentErrors(describeRefusedValues(result.errors, request), context) };
}
