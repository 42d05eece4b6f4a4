import DataLoader from 'dataloader';
import type { Context } from '../../src/core/context.ts';
import type { SqlRow } from '../../src/core/database.ts';
import {
  effectiveQuery,
  LINKED_QUERY_COLUMNS,
  type EffectiveQuery,
  type LinkedQuery,
  type QuerySource,
} from '../../src/services/dataset/dataset-query.ts';

const loaders = new WeakMap<Context, DataLoader<string, LinkedQuery | null>>();

/** Reads the saved queries that datasets follow, one statement for all of a list. */
function loaderOf(ctx: Context): DataLoader<string, LinkedQuery | null> {
  let loader = loaders.get(ctx);
  if (!loader) {
    loader = new DataLoader<string, LinkedQuery | null>(
      async (ids) => {
        const rows = await ctx.query<LinkedQuery & SqlRow>({
          name: 'linked-queries',
          text: `select ${LINKED_QUERY_COLUMNS} from dws.saved_query where tenant_id = $1 and id = any($2)`,
          values: [ctx.viewer.tenantId, [...new Set(ids)]],
        });
        const byId = new Map(rows.map((row) => [row.id, row]));
        return ids.map((id) => byId.get(id) ?? null);
      },
      { cache: false },
    );
    loaders.set(ctx, loader);
  }
  return loader;
}

/** What a dataset asks of which datasource, through its link if it has one. */
export async function effectiveOf(ctx: Context, dataset: QuerySource): Promise<EffectiveQuery | null> {
  return effectiveQuery(dataset, dataset.queryId ? await loaderOf(ctx).load(dataset.queryId) : null);
}
