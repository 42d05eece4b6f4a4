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
import type { Row } from './route.ts';

/** One field on the way from the root to what a row answers. */
export interface FieldSegment {
  name: string;
  parent: string;
  field: GraphQLField<unknown, unknown>;
}
/** One argument of one segment, and the variable that fills it. */
export interface ArgumentSlot {
  argument: GraphQLArgument;
  segment: number;
  variable: string;
  type: GraphQLInputType;
}
/** A row's way through the schema. `bound` holds the slot of every path parameter. */
export interface RowPlan {
  operation: OperationTypeNode;
  chain: FieldSegment[];
  slots: ArgumentSlot[];
  bound: Map<string, ArgumentSlot>;
}

/** A slip in the table of rows: one sentence that begins with the row. */
export class RowError extends Error {
  constructor(row: Row, sentence: string) {
    super(`${row.method} ${row.path}: ${sentence}`);
  }
}

const OPERATION_TYPES: Record<string, OperationTypeNode> = {
  Query: OperationTypeNode.QUERY,
  Mutation: OperationTypeNode.MUTATION,
  Subscription: OperationTypeNode.SUBSCRIPTION,
};

/** Names in `/a/:b/c/:d*` that are parameters, in order. */
export const parametersOf = (path: string): string[] => [...path.matchAll(/:(\w+)\*?/g)].map((match) => match[1]!);

/** The root is the one named (`Subscription.progress`), else a mutation for what changes something where there is one, else a query. */
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

function chainOf(schema: GraphQLSchema, row: Row, operation: OperationTypeNode, names: readonly string[]): FieldSegment[] {
  const chain: FieldSegment[] = [];
  let type: unknown = schema.getRootType(operation);
  for (const [index, name] of names.entries()) {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    if (!field) {
      // GraphQL's own validation says it best: it knows which names are near.
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

/** The last segment's arguments keep their names as variables, those of segments before it carry the segment's. */
function slotsOf(chain: readonly FieldSegment[]): ArgumentSlot[] {
  return chain.flatMap(({ name, field }, segment) =>
    field.args.map((argument) => ({
      argument,
      segment,
      variable: segment === chain.length - 1 ? argument.name : `${name}_${argument.name}`,
      type: argument.defaultValue === undefined ? argument.type : getNullableType(argument.type),
    })),
  );
}

/**
 * Finds the argument of every path parameter: `:datasetId` is `id` of the segment `dataset`; then arguments of the same name, from the root on;
 * then the required ones that are left, in order. Parameters left without an argument are a slip, and so is an order that only guessing could explain.
 */
function bindPath(row: Row, chain: readonly FieldSegment[], slots: readonly ArgumentSlot[]): Map<string, ArgumentSlot> {
  const bound = new Map<string, ArgumentSlot>();
  const free = (slot: ArgumentSlot) => ![...bound.values()].includes(slot);
  const parameters = parametersOf(row.path);
  const named = (parameter: string) => row.options.rename?.[parameter] ?? parameter;
  const bind = (fits: (parameter: string, slot: ArgumentSlot) => boolean): void => {
    for (const parameter of parameters) {
      if (bound.has(parameter)) continue;
      const slot = slots.find((candidate) => free(candidate) && fits(named(parameter), candidate));
      if (slot) bound.set(parameter, slot);
    }
  };
  bind(
    (parameter, { segment, argument }) =>
      segment < chain.length - 1 &&
      parameter === chain[segment]!.name + argument.name[0]!.toUpperCase() + argument.name.slice(1),
  );
  bind((parameter, { argument }) => parameter === argument.name);
  const certain = bound.size;
  bind(
    (_, { argument }) =>
      isNonNullType(argument.type) && argument.defaultValue === undefined && argument.name !== 'input',
  );
  const unbound = parameters.find((parameter) => !bound.has(parameter));
  if (unbound !== undefined) throw new RowError(row, `the path parameter "${unbound}" fits no argument of ${row.field}`);
  const order = parameters.map((parameter) => slots.indexOf(bound.get(parameter)!));
  if (certain < bound.size && order.some((position, index) => index > 0 && position < order[index - 1]!))
    throw new RowError(
      row,
      `the path parameters come in another order than the arguments of ${row.field}: name them alike`,
    );
  return bound;
}

/** Finds a row's way through the schema. Throws `RowError`. */
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

/** Writes, parses and validates the document of a row. Throws `RowError` with every complaint in one sentence each. */
export function createDocument(
  schema: GraphQLSchema,
  row: Row,
  { operation, chain, slots }: RowPlan,
  selection: string,
): DocumentNode {
  const declared = slots.map(({ variable, type }) => `$${variable}: ${String(type)}`).join(', ');
  const body = chain.reduceRight(
    (inner, { name }, index) => {
      const given = slots
        .filter((slot) => slot.segment === index)
        .map((slot) => `${slot.argument.name}: $${slot.variable}`)
        .join(', ');
      return `{ ${name}${given && `(${given})`} ${inner} }`;
    },
    selection && `{ ${selection} }`,
  );
  const name = `rest_${row.method}${row.path.replace(/\W+/g, '_')}`;
  const document = parse(`${operation} ${name}${declared && `(${declared})`} ${body}`, { noLocation: true });
  const errors = validate(schema, document);
  if (errors.length > 0) throw new RowError(row, errors.map(({ message }) => message).join(' '));
  return document;
}
