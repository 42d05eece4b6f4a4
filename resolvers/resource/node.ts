import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql';
import { Folder } from '../../entities/folder.ts';
import { Node } from '../../entities/node.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { isUuid } from '../../src/core/id.ts';
import type { EntityType } from '../../src/core/read/reader.ts';
import { modelFor, modelledTypes } from '../../src/services/resource/define-model.ts';
import { Can } from '../support/guard.ts';
import { loadNode } from '../support/relation-fields.ts';

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
    for (const type of isUuid(id) ? await findTypes(ctx, info, id) : []) {
      const row = await loadNode(ctx, type, id, info);
      if (row) return row;
    }
    throw notFound({ what: 'resource', id });
  }
}

/**
 * Returns the types of the rows with this id: at most one and a folder. Does not check access. Folders come last,
 * because clients choose their ids. A folder with the id of another record is found only by users who may not read that
 * record. So it neither hides the record nor reveals it.
 */
async function findTypes(
  { query, viewer }: Context,
  { schema }: GraphQLResolveInfo,
  id: string,
): Promise<EntityType[]> {
  const names = new Set(schema.getPossibleTypes(schema.getType('Node') as never).map(({ name }) => name));
  const types = modelledTypes().filter((type) => type !== Folder && names.has(modelFor(type).name));
  const known = [...types, Folder];
  const selects = known.map(
    (type, index) => `select ${index} as type from ${modelFor(type).table} where tenant_id = $1 and id = $2`,
  );
  const found = await query<{ type: number }>({
    text: `${selects.join(' union all ')} order by type`,
    values: [viewer.tenantId, id],
  });
  return found.map(({ type }) => known[type]!);
}
