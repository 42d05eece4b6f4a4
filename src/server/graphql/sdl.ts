import {
  GraphQLObjectType,
  GraphQLSchema,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { permissionOf, requiresSession, rootTypes } from '../../../resolvers/support/guard.ts';
import { compileRows, type Endpoint } from '../../../rest-bridge/bridge.ts';
import { openApi } from '../../../rest-bridge/openapi.ts';
import { VERSION } from '../package-root.ts';
import { ROWS } from '../routes.ts';

/** Returns the schema without the fields and types of federation (`_entities`, …), which are for routers only. */
function ownSchema(schema: GraphQLSchema): GraphQLSchema {
  const isOwn = ({ name }: { name: string }) => !/^_[^_]/.test(name);
  const { query, types, ...rest } = schema.toConfig();
  const { fields, ...queryConfig } = query!.toConfig();
  const ownFields = Object.fromEntries(Object.entries(fields).filter(([name]) => isOwn({ name })));
  return new GraphQLSchema({
    ...rest,
    query: new GraphQLObjectType({ ...queryConfig, fields: ownFields }),
    types: types.filter((type) => type !== query && isOwn(type)),
  });
}

/** Returns the schema as SDL, sorted, so that diffs contain only real changes. */
export const contractOf = (schema: GraphQLSchema): string =>
  `${printSchema(lexicographicSortSchema(ownSchema(schema)))}\n`;

/** The root field that resolves references to a type, and its argument. */
export interface EntityFinder {
  field: string;
  argument: string;
}

/**
 * Returns the types that other subgraphs can refer to by id: objects that a root field returns by its only required
 * argument, and all others that `node(id)` finds. The argument `username` of a user accepts an id as well.
 */
export function entityFinders(schema: GraphQLSchema): Map<string, EntityFinder> {
  const finders = new Map<string, EntityFinder>();
  for (const { name, type, args } of Object.values(schema.getQueryType()!.getFields())) {
    const found = isNonNullType(type) ? type.ofType : type;
    const [argument, ...others] = args.filter((arg) => isNonNullType(arg.type));
    if (!isObjectType(found) || !('id' in found.getFields()) || !argument || others.length) continue;
    if (argument.name === 'id' || argument.name === 'username')
      finders.set(found.name, finders.get(found.name) ?? { field: name, argument: argument.name });
  }
  const node = schema.getType('Node');
  if (isInterfaceType(node))
    for (const { name } of schema.getPossibleTypes(node))
      if (!finders.has(name)) finders.set(name, { field: 'node', argument: 'id' });
  return new Map([...finders].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])';

/**
 * Returns the SDL of the federation 2 subgraph: every type that can be found by id is an entity. See
 * docs/contract/apis.md#federation.
 */
export function subgraphOf(schema: GraphQLSchema): string {
  const entities = entityFinders(schema);
  const keyed = contractOf(schema).replace(
    /^type (\w+)( implements [^{]+)? \{$/gm,
    (line, name: string, implemented = '') =>
      entities.has(name) ? `type ${name}${implemented} @key(fields: "id") {` : line,
  );
  return `${LINK}\n\n${keyed}`;
}

/** Compiles every route below `/api` against the schema. Requires no running service. */
export const endpointsOf = (schema: GraphQLSchema): Endpoint[] =>
  compileRows(schema, ROWS, { permissionOf: permissionNames(schema) });

/** Returns the OpenAPI 3.1 document of the REST API. */
export const openapiOf = (endpoints: readonly Endpoint[]) =>
  openApi(endpoints, {
    title: 'Data Workspace Service',
    version: VERSION,
    license: { name: 'Proprietary' },
    contact: { name: 'The operators of this service', url: '/' },
    description:
      'REST API of the service. Each operation runs the GraphQL field in `x-graphql-operation` ' +
      'and requires the permission in `x-permission`.',
  });

/**
 * Returns a look-up of the permissions of root fields by their coordinates, e.g. `Query.me`. If a field also requires a
 * session, the permission ends with `, session`; without a further permission it is `session`.
 */
function permissionNames(schema: GraphQLSchema): (coordinate: string) => string | undefined {
  const names = new Map(
    rootTypes(schema).flatMap(([, type]) =>
      Object.values(type!.getFields()).map((field): [string, string | undefined] => [
        `${type!.name}.${field.name}`,
        requiresSession(field) ? `${permissionOf(field)}, session`.replace('authenticated, ', '') : permissionOf(field),
      ]),
    ),
  );
  return (coordinate) => names.get(coordinate);
}
