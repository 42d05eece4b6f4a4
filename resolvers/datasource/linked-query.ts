import DataLoader from 'dataloader';
import type { Context } from '../../src/core/context.ts';
import type { SqlRow } from '../../src/core/database.ts';
import {
  effectiveQuery,
  LINKED_QUERY_COLUMNS,
  type EffectiveQuery,
  type LinkedQuery,
  type QuerySource,
} from '../../src/services/dataset/dataset-refresh.ts';

const loaders = new WeakMap<Context, DataLoader<string, LinkedQuery | null>>();

/**
 * Returns the request's loader of saved queries that datasets follow. It loads all queries of a list in one statement.
 */
function loaderOf(ctx: Context): DataLoader<string, LinkedQuery | null> {
  let loader = loaders.get(ctx);
  if (!loader) {
    loader = new DataLoader<string, LinkedQuery | null>(
      async (ids) => {
        const rows = await ctx.query<LinkedQuery & SqlRow>({
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

/** Loads the query of a dataset: its own, or the saved query that it follows. Null for a dataset without a query. */
export async function loadEffectiveQuery(ctx: Context, dataset: QuerySource): Promise<EffectiveQuery | null> {
  return effectiveQuery(dataset, dataset.queryId ? await loaderOf(ctx).load(dataset.queryId) : null);
}
