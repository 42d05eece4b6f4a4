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

/** How many references one call may ask for. */
const MAX_REPRESENTATIONS = 1000;

/**
 * Adds what a federation 2 router asks a subgraph: `_service` and, when there are entities, `_entities`. A reference is found by the root field of its
 * type, so permission, tenant and rights are those of any other read; one that the caller cannot see is null.
 */
export function withFederation(schema: GraphQLSchema): GraphQLSchema {
  const sdl = subgraphOf(schema);
  const finders = entityFinders(schema);
  const service = new GraphQLObjectType({
    name: '_Service',
    description: 'This subgraph, as a router sees it.',
    fields: {
      sdl: { type: new GraphQLNonNull(GraphQLString), description: 'The contract with the federation’s directives.' },
    },
  });
  const serviceField = {
    type: new GraphQLNonNull(service),
    description: 'What this subgraph offers to a federation.',
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
  description: 'A reference to an entity: `__typename` and its key, e.g. `{"__typename": "User", "id": "…"}`.',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => (node.kind === Kind.OBJECT ? valueFromASTUntyped(node, variables) : undefined),
});

function entitiesField(schema: GraphQLSchema, finders: ReadonlyMap<string, EntityFinder>) {
  // Rows say nothing of their type, so it is remembered beside them.
  const typeOf = new WeakMap<object, string>();
  const entity = new GraphQLUnionType({
    name: '_Entity',
    description: 'The types that other subgraphs may refer to by id.',
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
      throw badInput(`A representation names one of ${[...finders.keys()].join(', ')} as __typename, and its id`);
    const field = info.schema.getQueryType()!.getFields()[finder.field]!;
    try {
      const row = (await field.resolve!({}, { [finder.argument]: id }, context, {
        ...info,
        fieldName: field.name,
        returnType: field.type,
      })) as object | null;
      if (row) typeOf.set(row, name as string);
      return row;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  };

  return {
    type: new GraphQLNonNull(new GraphQLList(entity)),
    description: `Entities by their references, in the same order; null for what the caller cannot see. At most ${MAX_REPRESENTATIONS} at once.`,
    args: {
      representations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(EntityReference))),
        description: 'The references.',
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
        throw badInput(`representations must hold at most ${MAX_REPRESENTATIONS} references`);
      return representations.map((representation) => find(representation, context, info));
    },
  };
}
