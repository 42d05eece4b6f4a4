import { isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import type { PublicContext } from '../../core/context.ts';

interface Parameter {
  kind: string;
  index: number;
  propertyName?: string;
  getType?: unknown;
}
interface Method {
  kind: string;
  methodName: string;
  schemaName: string;
  target: new () => object;
  getObjectType?(): unknown;
  params?: Parameter[];
  middlewares?: unknown[];
  roles?: unknown[];
}

/**
 * The metadata of TypeGraphQL's decorators that is needed here. TypeGraphQL stores it in a global and exports no access
 * to it.
 */
interface ResolverMetadata {
  fields: { name: string; schemaName: string; simple?: boolean }[];
  fieldResolvers: Method[];
  objectTypes: { name: string; target: unknown }[];
}
const resolverMetadata = (): ResolverMetadata =>
  (globalThis as unknown as { TypeGraphQLMetadataStorage: ResolverMetadata }).TypeGraphQLMetadataStorage;

/**
 * Marks fields that are plain properties as simple: they get no resolver, and executors read the property. Saves a
 * fifth of a list. To be called before the schema is built.
 */
export function readPlainFieldsDirectly(): void {
  for (const field of resolverMetadata().fields) field.simple ??= field.name === field.schemaName;
}

type Resolve = GraphQLFieldResolver<Record<string, unknown>, PublicContext>;
type ReadParameter = (root: Record<string, unknown>, context: PublicContext, info: Parameters<Resolve>[3]) => unknown;

/**
 * Replaces field resolvers without arguments by direct calls, without TypeGraphQL's instances, promises and parameter
 * sorting. Changes and returns the schema.
 */
export function callResolversDirectly(schema: GraphQLSchema): GraphQLSchema {
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

/** Creates a resolver. One and two parameters have code of their own, because they are frequent. */
function createResolver(method: (...values: unknown[]) => unknown, readers: ReadParameter[]): Resolve {
  const [first, second] = readers;
  if (first && readers.length === 1) return (root, _args, context, info) => method(first(root, context, info));
  if (first && second && readers.length === 2)
    return (root, _args, context, info) => method(first(root, context, info), second(root, context, info));
  return (root, _args, context, info) => method(...readers.map((read) => read(root, context, info)));
}

/** Returns the function that reads a parameter; undefined for a parameter that TypeGraphQL converts. */
function createReader({ kind, propertyName, getType }: Parameter): ReadParameter | undefined {
  if (kind === 'context')
    return propertyName
      ? (_root, context) => context[propertyName as keyof PublicContext]
      : (_root, context) => context;
  if (kind === 'root' && !getType) return propertyName ? (root) => root[propertyName] : (root) => root;
  return kind === 'info' ? (_root, _context, info) => info : undefined;
}
