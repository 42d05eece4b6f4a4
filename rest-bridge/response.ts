import { isDeepStrictEqual } from 'node:util';
import {
  getNamedType,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLSchema,
} from 'graphql';
import { badInput, notFound } from '../src/core/errors.ts';
import type { RestResponse, Call } from './call.ts';
import type { RowPlan } from './document.ts';
import { createEnumEncoder } from './enums.ts';
import type { Presentation } from './present.ts';
import type { Json, Row } from './route.ts';

/** From GraphQL's result to REST's answer. Throws GraphQL's first error, and a 404 for what the chain does not find. */
export type CreateResponse = (result: ExecutionResult, call: Call, variables: Json) => RestResponse;

/** The node of a document that stands for the last segment of a chain. */
function leafNode(document: DocumentNode, depth: number): FieldNode {
  const definition = document.definitions[0]!;
  let node = (
    definition.kind === 'OperationDefinition' ? definition.selectionSet.selections[0] : undefined
  ) as FieldNode;
  for (let level = 1; level < depth; level += 1) node = node.selectionSet!.selections[0] as FieldNode;
  return node;
}

/** Compiles one row's way to its answer: errors, missing parents, spelling of enums, presentation, status, `Location`. `defers` marks the answer that is not waited for. */
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
  const spell = createEnumEncoder(schema, chain[last]!.field.type, leafNode(document, chain.length).selectionSet);
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
    if (spell) value = spell(value);
    const record = value as Json;
    const code = defers ? 202 : typeof status === 'number' ? status : status(record);
    const location = code === 201 || defers ? presentation.self?.(record, call.params) : undefined;
    const version = presentation.version?.(record);
    const body = presentation.present(value, { url: call.url, params: call.params, variables });
    const headers =
      location === undefined ? undefined : { location, ...(defers && { 'preference-applied': 'respond-async' }) };
    return { status: code, body, single: presentation.single, version, headers };
  };
}

const toWords = (name: string): string => name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();

/** 404 for what a chain does not find, by the name of its segment and the id in the path. */
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

/** Identity fields may be sent as they are: compares those of a body with the record as the same caller reads it. */
export function checkUnchanged(held: Readonly<Json>, record: Readonly<Json>): void {
  const printed = JSON.parse(JSON.stringify(record)) as Json;
  const validation = Object.keys(held)
    .filter((key) => !isDeepStrictEqual(printed[key], held[key]))
    .map((key) => ({ path: [key], message: `"${key}" cannot be changed`, code: 'immutable' }));
  if (validation.length > 0) throw badInput(validation[0]!.message, { validation });
}
