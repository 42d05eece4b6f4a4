import { GraphQLInt, isObjectType, type GraphQLArgument, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { uncapitalize } from '../../src/core/capitalize.ts';
import type { PublicContext } from '../../src/core/context.ts';

const ARGUMENT: GraphQLArgument = {
  name: 'expectedVersion',
  description:
    'The `version` that the caller has read. If the object has another one, nothing changes and the error is ' +
    '`PRECONDITION_FAILED`. Default: any version.',
  type: GraphQLInt,
  defaultValue: undefined,
  deprecationReason: undefined,
  // REST has the header `If-Match` in its place.
  extensions: { graphqlOnly: true },
  astNode: undefined,
};

type Resolver = GraphQLFieldResolver<unknown, PublicContext, Record<string, unknown>>;

/**
 * Adds `expectedVersion` to the mutations that update or delete an object with a version that `Query` finds by its id: the check of
 * `If-Match`, in the transaction of the change. Changes and returns the schema.
 */
export function withExpectedVersions(schema: GraphQLSchema): GraphQLSchema {
  const queries = schema.getQueryType()!.getFields();
  const mutations = schema.getMutationType()!.getFields();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !('version' in type.getFields())) continue;
    if (!(uncapitalize(type.name) in queries)) continue;
    const fields = [mutations[`update${type.name}`], mutations[`delete${type.name}`]];
    for (const field of fields) {
      if (!field?.resolve || !fields[0]) continue;
      field.args = [...field.args, ARGUMENT];
      field.resolve = withVersion(field.resolve as Resolver) as typeof field.resolve;
    }
  }
  return schema;
}

const withVersion =
  (resolve: Resolver): Resolver =>
  (source, { expectedVersion, ...args }, context, info) =>
    resolve(
      source,
      args,
      typeof expectedVersion === 'number' ? { ...context, ifMatch: [expectedVersion] } : context,
      info,
    );
