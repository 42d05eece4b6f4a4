interface Parameter {
  kind: string;
  index: number;
  /** Of an `arg`: the name of the argument. */
  name?: string;
  propertyName?: string;
  getType?(): unknown;
}

/** A method that TypeGraphQL's decorators declare as a resolver. */
export interface Method {
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
 * The metadata of TypeGraphQL's decorators that the schema needs. TypeGraphQL stores it in a global and exports no
 * access to it.
 */
interface ResolverMetadata {
  fields: { name: string; schemaName: string; simple?: boolean }[];
  queries: Method[];
  mutations: Method[];
  subscriptions: Method[];
  fieldResolvers: Method[];
  objectTypes: { name: string; target: unknown }[];
  inputTypes: { name: string; target: { prototype: object } }[];
}

/** Returns the metadata of all resolvers. */
export const resolverMetadata = (): ResolverMetadata =>
  (globalThis as unknown as { TypeGraphQLMetadataStorage: ResolverMetadata }).TypeGraphQLMetadataStorage;

/** Parameter of a resolver method. */
export type { Parameter };
