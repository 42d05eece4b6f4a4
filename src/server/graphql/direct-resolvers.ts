import { isInterfaceType, isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { ChildPageArgs } from '../../../resolvers/support/page.ts';
import type { PublicContext } from '../../core/context.ts';
import { resolverMetadata, type Parameter } from './resolver-metadata.ts';

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
 * Replaces field resolvers without single arguments by direct calls, without TypeGraphQL's instances, promises and parameter
 * sorting. Changes and returns the schema.
 */
export function callResolversDirectly(schema: GraphQLSchema): GraphQLSchema {
  resolveTypesDirectly(schema);
  const { fieldResolvers, objectTypes } = resolverMetadata();
  for (const {
    kind,
    methodName,
    schemaName,
    target,
    getObjectType,
    params = [],
    middlewares = [],
    roles = [],
  } of fieldResolvers) {
    const readParameters = params.toSorted((one, other) => one.index - other.index).map(createReader);
    const of = getObjectType?.();
    const type = schema.getType(objectTypes.find((known) => known.target === of)?.name ?? '');
    const field = isObjectType(type) ? type.getFields()[schemaName] : undefined;
    if (
      kind !== 'external' ||
      !field ||
      middlewares.length > 0 ||
      roles.length > 0 ||
      readParameters.includes(undefined)
    )
      continue;
    const self = new target() as Record<string, (...values: unknown[]) => unknown>;
    field.resolve = createResolver(self[methodName]!.bind(self), readParameters as ReadParameter[]);
  }
  return schema;
}

/**
 * Replaces the type resolvers of interfaces, which are asynchronous in TypeGraphQL: compiled documents require the name
 * of the type at once.
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
function createReader({ kind, propertyName, getType }: Parameter): ReadParameter | undefined {
  if (kind === 'context')
    return propertyName
      ? (_root, context) => context[propertyName as keyof PublicContext]
      : (_root, context) => context;
  if (kind === 'root' && !getType) return propertyName ? (root) => root[propertyName] : (root) => root;
  // The arguments of a list of children: plain values, which need no instance of their class.
  if (kind === 'args' && getType?.() === ChildPageArgs) return (_root, _context, _info, args) => args;
  return kind === 'info' ? (_root, _context, info) => info : undefined;
}
