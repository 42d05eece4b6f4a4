import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  Kind,
  valueFromASTUntyped,
  type GraphQLResolveInfo,
} from 'graphql';
import type { PublicContext } from '../../core/context.ts';
import { badInput, ApiError, unauthenticated } from '../../core/errors.ts';
import { entityFinders, subgraphOf, type EntityFinder } from './sdl.ts';

/** Maximum number of references in one call. */
const MAX_REPRESENTATIONS = 1000;

/**
 * Adds the fields that a federation 2 router requires: `_service` and, when there are entities, `_entities`. A
 * reference is resolved by the root field of its type, so permissions, tenant and access apply. A reference that the
 * caller cannot see is null. See docs/contract/apis.md#federation.
 */
export function withFederation(schema: GraphQLSchema): GraphQLSchema {
  const sdl = subgraphOf(schema);
  const finders = entityFinders(schema);
  const service = new GraphQLObjectType({
    name: '_Service',
    description: 'Federation metadata of this service.',
    fields: {
      sdl: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'Schema definition language (SDL) of this service, with federation directives.',
      },
    },
  });
  const serviceField = {
    type: new GraphQLNonNull(service),
    description: 'Returns the schema of this service for a federation router.',
    extensions: { permission: 'public' },
    resolve: (_source: unknown, _args: object, { platform, viewer }: PublicContext) => {
      if (!platform.config.PUBLIC_SCHEMA && !viewer) throw unauthenticated();
      return { sdl };
    },
  };
  const fields = { _service: serviceField, ...(finders.size > 0 && { _entities: entitiesField(schema, finders) }) };
  const { query, types, ...rest } = schema.toConfig();
  const { fields: known, ...queryConfig } = query!.toConfig();
  return new GraphQLSchema({
    ...rest,
    query: new GraphQLObjectType({ ...queryConfig, fields: { ...known, ...fields } }),
    types: types.filter((type) => type !== query),
  });
}

const EntityReference = new GraphQLScalarType({
  name: '_Any',
  description: 'Reference to an entity: `__typename` and its key, e.g. `{"__typename": "User", "id": "…"}`.',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => (node.kind === Kind.OBJECT ? valueFromASTUntyped(node, variables) : undefined),
});

function entitiesField(schema: GraphQLSchema, finders: ReadonlyMap<string, EntityFinder>) {
  // Rows do not contain their type, so it is stored by row.
  const typeOf = new WeakMap<object, string>();
  const entity = new GraphQLUnionType({
    name: '_Entity',
    description: 'Types that other subgraphs can refer to by id.',
    types: [...finders.keys()].map((name) => schema.getType(name) as GraphQLObjectType),
    resolveType: (row: object) => typeOf.get(row),
  });

  const find = async (
    representation: unknown,
    context: PublicContext,
    info: GraphQLResolveInfo,
  ): Promise<object | null> => {
    const { __typename: name, id } = Object(representation) as { __typename?: unknown; id?: unknown };
    const finder = typeof name === 'string' ? finders.get(name) : undefined;
    if (!finder || typeof id !== 'string')
      throw badInput(
        `A representation must have an id and one of these as __typename: ${[...finders.keys()].join(', ')}`,
      );
    const field = info.schema.getQueryType()!.getFields()[finder.field]!;
    try {
      const row = (await field.resolve!({}, { [finder.argument]: id }, context, {
        ...info,
        fieldName: field.name,
        returnType: field.type,
      })) as { __typename?: string } | null;
      // `node(id)` finds records of other types too.
      if (!row || (row.__typename ?? name) !== name) return null;
      typeOf.set(row, name as string);
      return row;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  };

  return {
    type: new GraphQLNonNull(new GraphQLList(entity)),
    description:
      'Returns entities in the order of their references, null where the caller has no access. ' +
      `At most ${MAX_REPRESENTATIONS} references.`,
    args: {
      representations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(EntityReference))),
        description: 'References to entities.',
      },
    },
    extensions: { permission: 'authenticated' },
    resolve: (
      _source: unknown,
      { representations }: { representations: unknown[] },
      context: PublicContext,
      info: GraphQLResolveInfo,
    ) => {
      if (representations.length > MAX_REPRESENTATIONS)
        throw badInput(`representations must contain at most ${MAX_REPRESENTATIONS} references`);
      return representations.map((representation) => find(representation, context, info));
    },
  };
}
