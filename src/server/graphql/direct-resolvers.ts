import {
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import type { PublicContext } from '../../core/context.ts';
import { resolverMetadata, type Method, type Parameter } from './resolver-metadata.ts';

/**
 * Marks fields that are plain properties as simple: they get no resolver, and executors read the property. Saves a
 * fifth of a list. To be called before the schema is built.
 */
export function readPlainFieldsDirectly(): void {
  for (const field of resolverMetadata().fields) field.simple ??= field.name === field.schemaName;
}

type Resolve = GraphQLFieldResolver<Record<string, unknown>, PublicContext>;
type ReadParameter = (
  root: Record<string, unknown>,
  context: PublicContext,
  info: Parameters<Resolve>[3],
  args: Parameters<Resolve>[1],
) => unknown;

/**
 * Replaces resolvers of fields, queries and mutations by direct calls, unless TypeGraphQL converts their parameters.
 * Direct calls avoid TypeGraphQL's instances, promises and sorting of parameters. Changes and returns the schema.
 */
export function callResolversDirectly(schema: GraphQLSchema): GraphQLSchema {
  resolveTypesDirectly(schema);
  const { fieldResolvers, objectTypes, queries, mutations } = resolverMetadata();
  for (const method of queries) callDirectly(schema.getQueryType(), method);
  for (const method of mutations) callDirectly(schema.getMutationType(), method);
  for (const method of fieldResolvers) {
    const of = method.getObjectType?.();
    if (method.kind === 'external')
      callDirectly(schema.getType(objectTypes.find((known) => known.target === of)?.name ?? ''), method);
  }
  return schema;
}

function callDirectly(
  type: GraphQLNamedType | null | undefined,
  { methodName, schemaName, target, params = [], middlewares = [], roles = [] }: Method,
): void {
  const field = isObjectType(type) ? type.getFields()[schemaName] : undefined;
  if (!field || middlewares.length > 0 || roles.length > 0) return;
  const readParameters = params
    .toSorted((one, other) => one.index - other.index)
    .map((parameter) => createReader(parameter, field));
  if (readParameters.includes(undefined)) return;
  const self = new target() as Record<string, (...values: unknown[]) => unknown>;
  field.resolve = createResolver(self[methodName]!.bind(self), readParameters as ReadParameter[]);
}

/**
 * Replaces the type resolvers of interfaces, which are asynchronous in TypeGraphQL: compiled documents require the name
 * of the type synchronously.
 */
function resolveTypesDirectly(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()))
    if (isInterfaceType(type)) type.resolveType = (row: { __typename: string }) => row.__typename;
}

/** Creates a resolver. One and two parameters have code of their own, because they are frequent. */
function createResolver(method: (...values: unknown[]) => unknown, readers: ReadParameter[]): Resolve {
  const [first, second] = readers;
  if (first && readers.length === 1) return (root, args, context, info) => method(first(root, context, info, args));
  if (first && second && readers.length === 2)
    return (root, args, context, info) => method(first(root, context, info, args), second(root, context, info, args));
  return (root, args, context, info) => method(...readers.map((read) => read(root, context, info, args)));
}

/** Returns the function that reads a parameter; undefined for a parameter that TypeGraphQL converts. */
function createReader(
  { kind, name, propertyName, getType }: Parameter,
  { args: declared }: GraphQLField<unknown, unknown>,
): ReadParameter | undefined {
  if (kind === 'context')
    return propertyName
      ? (_root, context) => context[propertyName as keyof PublicContext]
      : (_root, context) => context;
  if (kind === 'root' && !getType) return propertyName ? (root) => root[propertyName] : (root) => root;
  if (kind === 'arg' && declared.some((argument) => argument.name === name && isLeafType(getNamedType(argument.type))))
    return (_root, _context, _info, args) => args[name!];
  // Scalars, without defaults of the class: the plain arguments are equal to an instance.
  if (kind === 'args' && declared.every(({ type }) => isLeafType(getNamedType(type))) && isEmptyClass(getType!()))
    return (_root, _context, _info, args) => args;
  return kind === 'info' ? (_root, _context, info) => info : undefined;
}

/** Returns whether the instances of a class have no values of their own. */
const isEmptyClass = (type: unknown): boolean =>
  Object.values(new (type as new () => object)()).every((value) => value === undefined);
