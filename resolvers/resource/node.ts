import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql';
import { App } from '../../entities/app.ts';
import { Dataset } from '../../entities/dataset.ts';
import { Datasource } from '../../entities/datasource.ts';
import { Folder } from '../../entities/folder.ts';
import { Node } from '../../entities/node.ts';
import { Operation } from '../../entities/operation.ts';
import { Report } from '../../entities/report.ts';
import { SavedQuery } from '../../entities/saved-query.ts';
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

/** The kinds that can be found by id alone. Of operations a caller sees their own. Folders come last: clients make ids for them, which must not hide anything. */
const NODES: readonly EntityType[] = [
  Dataset,
  SavedQuery,
  Datasource,
  Report,
  App,
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
  @Query(() => Node, { description: 'Whatever has this id, if the caller may see it.' })
  async node(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'UUID of the resource.' }) id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const kind = isUuid(id) ? await kindOf(ctx, id) : undefined;
    const where = kind === Operation ? { userId: ctx.viewer.userId } : undefined;
    const row = kind && (await ctx.read.find(kind, id, info, where));
    if (!row) throw notFound({ what: 'resource', id });
    // GraphQL asks a value of an interface for its type.
    return { ...row, __typename: modelFor(kind!).name };
  }
}

async function kindOf({ query, viewer }: Context, id: string): Promise<EntityType | undefined> {
  const parts = NODES.map(
    (kind, index) => `select ${index} as kind from ${modelFor(kind).table} where tenant_id = $1 and id = $2`,
  );
  const [found] = await query<{ kind: number }>({
    name: 'node',
    text: parts.join(' union all '),
    values: [viewer.tenantId, id],
  });
  return found && NODES[found.kind];
}
