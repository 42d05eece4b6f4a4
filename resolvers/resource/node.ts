import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql';
import { Folder } from '../../entities/folder.ts';
import { Node } from '../../entities/node.ts';
import { Operation } from '../../entities/operation.ts';
import { OWNED_KINDS } from '../../entities/owned-kinds.ts';
import { Suite } from '../../entities/suite.ts';
import { Tag } from '../../entities/tag.ts';
import { Team } from '../../entities/team.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { isUuid } from '../../src/core/id.ts';
import type { EntityType } from '../../src/core/read/reader.ts';
import { modelFor } from '../../src/services/resource/define-model.ts';
import { Can } from '../support/guard.ts';

/**
 * The types that `node(id)` finds. Folders come last, because clients choose their ids: a folder with the id of another
 * resource is found only by users who may not read that one, so that it neither hides the resource nor reveals it.
 */
const NODE_TYPES: readonly EntityType[] = [
  ...OWNED_KINDS.map(({ entity }) => entity as EntityType),
  Operation,
  Team,
  User,
  Suite,
  Tag,
  Folder,
];

@Resolver()
export class NodeResolver {
  @Can('authenticated')
  @Query(() => Node, {
    nullable: true,
    description: 'Returns a resource of any type that the caller may read, by its id.',
  })
  async node(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'UUID of the resource.' }) id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    for (const type of isUuid(id) ? await findTypes(ctx, id) : []) {
      // Users see only their own operations.
      const where = type === Operation ? { userId: ctx.viewer.userId } : undefined;
      const row = await ctx.read.find(type, id, info, where);
      // GraphQL resolves the type of an interface from the value.
      if (row) return { ...row, __typename: modelFor(type).name };
    }
    throw notFound({ what: 'resource', id });
  }
}

/** Returns the types of the rows with this id: at most one and a folder. Does not check access. */
async function findTypes({ query, viewer }: Context, id: string): Promise<EntityType[]> {
  const selects = NODE_TYPES.map(
    (type, index) => `select ${index} as type from ${modelFor(type).table} where tenant_id = $1 and id = $2`,
  );
  const found = await query<{ type: number }>({
    name: 'node',
    text: `${selects.join(' union all ')} order by type`,
    values: [viewer.tenantId, id],
  });
  return found.map(({ type }) => NODE_TYPES[type]!);
}
