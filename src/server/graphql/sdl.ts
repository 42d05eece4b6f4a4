import {
  GraphQLObjectType,
  GraphQLSchema,
  isNonNullType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { permissionOf, rootTypes } from '../../../resolvers/support/guard.ts';
import { compileRows, type Endpoint } from '../../../rest-bridge/bridge.ts';
import { openApi } from '../../../rest-bridge/openapi.ts';
import { VERSION } from '../package-root.ts';
import { ROWS } from '../routes.ts';

/** The schema without what federation adds to it (`_entities`, …): that is between routers and us. */
function ownSchema(schema: GraphQLSchema): GraphQLSchema {
  const own = ({ name }: { name: string }) => !/^_[^_]/.test(name);
  const { query, types, ...rest } = schema.toConfig();
  const { fields, ...queryConfig } = query!.toConfig();
  const ownFields = Object.fromEntries(Object.entries(fields).filter(([name]) => own({ name })));
  return new GraphQLSchema({
    ...rest,
    query: new GraphQLObjectType({ ...queryConfig, fields: ownFields }),
    types: types.filter((type) => type !== query && own(type)),
  });
}

/** The GraphQL contract as SDL, sorted, so that a change shows as that change and nothing else. */
export const contractOf = (schema: GraphQLSchema): string =>
  `${printSchema(lexicographicSortSchema(ownSchema(schema)))}\n`;

/** How other subgraphs' references to a type are found: by a root field with one argument. */
export interface EntityFinder {
  field: string;
  argument: string;
}

/** The types that other subgraphs may refer to by id: objects that a root field finds by it. A user is found by id too, though the argument is called `username`. */
export function entityFinders(schema: GraphQLSchema): Map<string, EntityFinder> {
  const finders = new Map<string, EntityFinder>();
  for (const { name, type, args } of Object.values(schema.getQueryType()!.getFields())) {
    const found = isNonNullType(type) ? type.ofType : type;
    const [argument, ...others] = args.filter((arg) => isNonNullType(arg.type));
    if (!isObjectType(found) || !('id' in found.getFields()) || !argument || others.length) continue;
    if (argument.name === 'id' || argument.name === 'username')
      finders.set(found.name, finders.get(found.name) ?? { field: name, argument: argument.name });
  }
  return new Map([...finders].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])';

/** The same contract as a federation 2 subgraph: every type that can be found by id is an entity. */
export function subgraphOf(schema: GraphQLSchema): string {
  const entities = entityFinders(schema);
  const keyed = contractOf(schema).replace(
    /^type (\w+)( implements [^{]+)? \{$/gm,
    (line, name: string, implemented = '') =>
      entities.has(name) ? `type ${name}${implemented} @key(fields: "id") {` : line,
  );
  return `${LINK}\n\n${keyed}`;
}

/** Every route below `/api`, compiled against the schema. Needs nothing that runs. */
export const endpointsOf = (schema: GraphQLSchema): Endpoint[] =>
  compileRows(schema, ROWS, { permissionOf: permissionNames(schema) });

/** The REST contract as an OpenAPI 3.1 document. */
export const openapiOf = (endpoints: readonly Endpoint[]) =>
  openApi(endpoints, {
    title: 'Data Workspace Service',
    version: VERSION,
    description:
      'The REST channel of the service. Every operation runs the GraphQL field that `x-graphql-operation` names.',
  });

/** Permissions of root fields by their coordinates (`Query.me`), as `@Can` wrote them down. */
export function permissionNames(schema: GraphQLSchema): (coordinate: string) => string | undefined {
  const names = new Map(
    rootTypes(schema).flatMap(([, type]) =>
      Object.values(type!.getFields()).map((field): [string, string | undefined] => [
        `${type!.name}.${field.name}`,
        permissionOf(field),
      ]),
    ),
  );
  return (coordinate) => names.get(coordinate);
}
