import {
  getNullableType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  OperationTypeNode,
  parse,
  validate,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import { capitalize } from '../src/core/capitalize.ts';
import type { Row } from './route.ts';

/** One field of the chain from the root type to the field that a row presents. */
interface FieldSegment {
  name: string;
  parent: string;
  field: GraphQLField<unknown, unknown>;
}
/** An argument of a segment, and the variable that sets it. */
export interface ArgumentSlot {
  argument: GraphQLArgument;
  segment: number;
  variable: string;
  type: GraphQLInputType;
}
/**
 * How a row calls the schema: its chain of fields and their arguments. `bound` has the argument of each path parameter.
 */
export interface RowPlan {
  operation: OperationTypeNode;
  chain: FieldSegment[];
  /** Arguments that the row sets. */
  slots: ArgumentSlot[];
  bound: Map<string, ArgumentSlot>;
}

/** An error in the table of rows. The message starts with method and path of the row. */
export class RowError extends Error {
  constructor(row: Row, message: string) {
    super(`${row.method} ${row.path}: ${message}`);
  }
}

const OPERATION_TYPES: Record<string, OperationTypeNode> = {
  Query: OperationTypeNode.QUERY,
  Mutation: OperationTypeNode.MUTATION,
  Subscription: OperationTypeNode.SUBSCRIPTION,
};

/** Returns the parameter names of a path, in order: `b` and `d` for `/a/:b/c/:d*`. */
export const parametersOf = (path: string): string[] => [...path.matchAll(/:(\w+)\*?/g)].map((match) => match[1]!);

/**
 * Returns the operation type of a row: the root type that its field names (`Subscription.progress`), otherwise mutation
 * for a method other than GET, unless only a query has that field.
 */
function operationTypeOf(schema: GraphQLSchema, row: Row, names: string[]): OperationTypeNode {
  const named = OPERATION_TYPES[names[0]!];
  if (named) return (names.shift(), named);
  const mutates =
    row.method !== 'GET' &&
    !(
      names[0]! in (schema.getQueryType()?.getFields() ?? {}) &&
      !(names[0]! in (schema.getMutationType()?.getFields() ?? {}))
    );
  return mutates ? OperationTypeNode.MUTATION : OperationTypeNode.QUERY;
}

function chainOf(
  schema: GraphQLSchema,
  row: Row,
  operation: OperationTypeNode,
  names: readonly string[],
): FieldSegment[] {
  const chain: FieldSegment[] = [];
  let type: unknown = schema.getRootType(operation);
  for (const [index, name] of names.entries()) {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    if (!field) {
      // The message of graphql-js suggests similar names.
      const text = names.slice(0, index + 1).reduceRight((inner, outer) => `{ ${outer} ${inner} }`, '');
      throw new RowError(
        row,
        validate(schema, parse(`${operation} ${text}`)).find(({ message }) => message.includes(`"${name}"`))?.message ??
          `There is no field ${name}`,
      );
    }
    chain.push({ name, parent: (type as { name: string }).name, field });
    type = getNullableType(field.type);
  }
  return chain;
}

/**
 * Returns the arguments of a chain. Variables of the last segment have the argument's name, others the segment's name
 * before it.
 */
function slotsOf(chain: readonly FieldSegment[]): ArgumentSlot[] {
  return chain.flatMap(({ name, field }, segment) =>
    field.args
      .filter(({ extensions }) => !extensions['graphqlOnly'])
      .map((argument) => ({
        argument,
        segment,
        variable: segment === chain.length - 1 ? argument.name : `${name}_${argument.name}`,
        type: argument.defaultValue === undefined ? argument.type : getNullableType(argument.type),
      })),
  );
}

/**
 * Finds the argument of each path parameter, in three passes: `:datasetId` is the argument `id` of the segment
 * `dataset`; then arguments of the same name, from the root on; then the remaining required arguments, in order. Throws
 * `RowError` for a parameter without an argument, and when the third pass would change the order of parameters.
 */
function bindPath(row: Row, chain: readonly FieldSegment[], slots: readonly ArgumentSlot[]): Map<string, ArgumentSlot> {
  const bound = new Map<string, ArgumentSlot>();
  const isFree = (slot: ArgumentSlot) => ![...bound.values()].includes(slot);
  const parameters = parametersOf(row.path);
  const argumentName = (parameter: string) => row.options.rename?.[parameter] ?? parameter;
  const bind = (fits: (parameter: string, slot: ArgumentSlot) => boolean): void => {
    for (const parameter of parameters) {
      if (bound.has(parameter)) continue;
      const slot = slots.find((candidate) => isFree(candidate) && fits(argumentName(parameter), candidate));
      if (slot) bound.set(parameter, slot);
    }
  };
  bind(
    (parameter, { segment, argument }) =>
      segment < chain.length - 1 && parameter === chain[segment]!.name + capitalize(argument.name),
  );
  bind((parameter, { argument }) => parameter === argument.name);
  const boundByName = bound.size;
  bind(
    (_, { argument }) =>
      isNonNullType(argument.type) && argument.defaultValue === undefined && argument.name !== 'input',
  );
  const unbound = parameters.find((parameter) => !bound.has(parameter));
  if (unbound !== undefined)
    throw new RowError(row, `the path parameter "${unbound}" fits no argument of ${row.field}`);
  const order = parameters.map((parameter) => slots.indexOf(bound.get(parameter)!));
  if (boundByName < bound.size && order.some((position, index) => index > 0 && position < order[index - 1]!))
    throw new RowError(
      row,
      `the path parameters come in another order than the arguments of ${row.field}: name them alike`,
    );
  return bound;
}

/** Returns the chain of fields of a row, and the arguments that it sets. Throws `RowError`. */
export function planRow(schema: GraphQLSchema, row: Row & { field: string }): RowPlan {
  const names = row.field.split('.');
  const operation = operationTypeOf(schema, row, names);
  const chain = chainOf(schema, row, operation, names);
  const all = slotsOf(chain);
  const bound = bindPath(row, chain, all);
  const used = new Set([
    ...bound.values(),
    ...all.filter((slot) => slot.segment === chain.length - 1 || slot.argument.name in (row.options.fixed ?? {})),
  ]);
  return { operation, chain, slots: all.filter((slot) => used.has(slot)), bound };
}

/** Creates the document of a row. Throws `RowError` with every error of GraphQL's validation. */
export function createDocument(
  schema: GraphQLSchema,
  row: Row,
  { operation, chain, slots }: RowPlan,
  selection: string,
): DocumentNode {
  const declared = slots.map(({ variable, type }) => `$${variable}: ${String(type)}`).join(', ');
  const body = chain.reduceRight(
    (inner, { name }, index) => {
      const args = slots
        .filter((slot) => slot.segment === index)
        .map((slot) => `${slot.argument.name}: $${slot.variable}`)
        .join(', ');
      return `{ ${name}${args && `(${args})`} ${inner} }`;
    },
    selection && `{ ${selection} }`,
  );
  const name = `rest_${row.method}${row.path.replace(/\W+/g, '_')}`;
  const document = parse(`${operation} ${name}${declared && `(${declared})`} ${body}`, { noLocation: true });
  const errors = validate(schema, document);
  if (errors.length > 0) throw new RowError(row, errors.map(({ message }) => message).join(' '));
  return document;
}
