import { isDeepStrictEqual } from 'node:util';
import {
  getNamedType,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLSchema,
} from 'graphql';
import { toApiError } from '../src/core/api-error.ts';
import { badInput, notFound } from '../src/core/errors.ts';
import type { BridgeContext, RestResponse, Call } from './call.ts';
import type { RowPlan } from './document.ts';
import { createEnumEncoder } from './enums.ts';
import type { Presentation } from './present.ts';
import type { Json, Row } from './route.ts';
import { toWords } from './words.ts';

/**
 * Turns a GraphQL result into a REST response. Throws the first GraphQL error, and 404 when a field of the chain is
 * null.
 */
export type CreateResponse = (result: ExecutionResult, call: Call, variables: Json) => RestResponse;

/** Returns the node of the last field of a document's chain. */
function leafNode(document: DocumentNode, depth: number): FieldNode {
  const definition = document.definitions[0]!;
  let node = (
    definition.kind === 'OperationDefinition' ? definition.selectionSet.selections[0] : undefined
  ) as FieldNode;
  for (let level = 1; level < depth; level += 1) node = node.selectionSet!.selections[0] as FieldNode;
  return node;
}

/**
 * Creates the function that turns the results of a row's document into responses: errors, missing parents, REST values
 * of enums, presentation, status and `Location`. `defers` marks the document that does not wait for the result: its
 * response is 202.
 */
export function createResponder(
  schema: GraphQLSchema,
  row: Row,
  plan: RowPlan,
  document: DocumentNode,
  presentation: Presentation | undefined,
  defers: boolean,
): CreateResponse {
  const { chain } = plan;
  const last = chain.length - 1;
  const encodeEnums = createEnumEncoder(schema, chain[last]!.field.type, leafNode(document, chain.length).selectionSet);
  const { status = presentation ? 200 : 204, nullable = false } = row.options;
  const mayBeNull = nullable || !presentation;
  return (result, call, variables) => {
    if (result.errors) throw result.errors[0]!;
    let value: unknown = result.data;
    for (let index = 0; index <= last; index += 1) {
      value = (value as Json)[chain[index]!.name];
      if (value === null && !(mayBeNull && index === last)) throw notFoundError(index, plan, variables);
    }
    if (!presentation) return { status: typeof status === 'number' ? status : 204 };
    if (value === null || value === undefined) return { status: 200, body: null };
    if (encodeEnums) value = encodeEnums(value);
    const record = value as Json;
    const code = defers ? 202 : typeof status === 'number' ? status : status.of(record);
    const location = code === 201 || defers ? presentation.self?.(record, call.params) : undefined;
    // Read before `present`, which may remove the field.
    const version = presentation.version?.(record);
    const { read, viewer } = call.context as BridgeContext;
    const total = read?.counted?.total;
    const body = presentation.present(value, { url: call.url, params: call.params, variables, total, viewer });
    const headers =
      location === undefined ? undefined : { location, ...(defers && { 'preference-applied': 'respond-async' }) };
    return { status: code, body, single: presentation.single, version, headers };
  };
}

/** Returns the 404 of a null field in the chain. It names the field and the id in the path. */
function notFoundError(index: number, { chain, bound, operation }: RowPlan, variables: Readonly<Json>): Error {
  const idOf = (segment: number) =>
    [...bound.values()]
      .filter((slot) => slot.segment === segment)
      .map((slot) => String(variables[slot.variable]))
      .at(-1);
  const { name, field } = chain[index]!;
  const what = toWords(operation === OperationTypeNode.MUTATION ? getNamedType(field.type).name : name);
  const id = idOf(index);
  return id !== undefined || index === 0
    ? notFound({ what, id: id ?? '' })
    : notFound({ what: `${what} of ${toWords(chain[index - 1]!.name)}`, id: idOf(index - 1) ?? '' });
}

/**
 * Throws 400 when identity fields of a body differ from the record. They are ignored if the caller must not read the
 * record, as those who may only change it.
 */
export async function checkIdentity(identityFields: Readonly<Json>, read: () => Promise<RestResponse>): Promise<void> {
  const current = await read().catch((error: Error) => {
    if (toApiError(error)?.code === 'FORBIDDEN') return null;
    throw error;
  });
  if (current) checkUnchanged(identityFields, current.body as Json);
}

function checkUnchanged(identityFields: Readonly<Json>, record: Readonly<Json>): void {
  const current = JSON.parse(JSON.stringify(record)) as Json;
  const validation = Object.keys(identityFields)
    .filter((key) => !isDeepStrictEqual(current[key], identityFields[key]))
    .map((key) => ({ path: [key], message: `"${key}" cannot be changed`, code: 'immutable' }));
  if (validation.length > 0) throw badInput(validation[0]!.message, { validation });
}
