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

/** What TypeGraphQL noted of our decorators, as far as it is needed here. It keeps that in a global and exports no other way to it. */
interface Notes {
  fields: { name: string; schemaName: string; simple?: boolean }[];
  fieldResolvers: Method[];
  objectTypes: { name: string; target: unknown }[];
}
const notes = (): Notes => (globalThis as unknown as { TypeGraphQLMetadataStorage: Notes }).TypeGraphQLMetadataStorage;

/** Before a schema is built: fields that are plain properties get no resolver, so that executors read the property. A fifth of the cost of a list. */
export function plainFields(): void {
  for (const field of notes().fields) field.simple ??= field.name === field.schemaName;
}

type Resolve = GraphQLFieldResolver<Record<string, unknown>, PublicContext>;
type Reader = (root: Record<string, unknown>, context: PublicContext, info: Parameters<Resolve>[3]) => unknown;

/** After a schema is built: a field resolver that takes no arguments is called directly, without TypeGraphQL's instances, promises and sorting of parameters. */
export function directResolvers(schema: GraphQLSchema): GraphQLSchema {
  const { fieldResolvers, objectTypes } = notes();
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
    const readers = params.toSorted((one, other) => one.index - other.index).map(readerOf);
    const of = getObjectType?.();
    const type = schema.getType(objectTypes.find((known) => known.target === of)?.name ?? '');
    const field = isObjectType(type) ? type.getFields()[schemaName] : undefined;
    if (kind !== 'external' || !field || middlewares.length > 0 || roles.length > 0 || readers.includes(undefined))
      continue;
    const self = new target() as Record<string, (...values: unknown[]) => unknown>;
    field.resolve = call(self[methodName]!.bind(self), readers as Reader[]);
  }
  return schema;
}

function call(method: (...values: unknown[]) => unknown, readers: Reader[]): Resolve {
  const [first, second] = readers;
  if (first && readers.length === 1) return (root, _args, context, info) => method(first(root, context, info));
  if (first && second && readers.length === 2)
    return (root, _args, context, info) => method(first(root, context, info), second(root, context, info));
  return (root, _args, context, info) => method(...readers.map((read) => read(root, context, info)));
}

/** How a parameter is read; undefined for what TypeGraphQL has to convert. */
function readerOf({ kind, propertyName, getType }: Parameter): Reader | undefined {
  if (kind === 'context')
    return propertyName
      ? (_root, context) => context[propertyName as keyof PublicContext]
      : (_root, context) => context;
  if (kind === 'root' && !getType) return propertyName ? (root) => root[propertyName] : (root) => root;
  return kind === 'info' ? (_root, _context, info) => info : undefined;
}
