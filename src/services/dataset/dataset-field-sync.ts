import type { FieldSync } from '../../../entities/dataset-field-sync.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { distinctNames } from '../../core/fields.ts';
import { checkFlow } from '../../core/flow/check.ts';
import { withSource } from '../datasource/datasource-connection.ts';
import { loadResource } from '../resource/load-resource.ts';
import { countFieldChanges, mergeFields } from './dataset-fields.ts';
import { prepareRun } from './dataset-run.ts';
import { notifyBrokenFilters } from './saved-filter-notice.ts';

/** Updates a dataset's fields to the current columns of its query. Its rows do not change until the next refresh. */
export async function syncFields(ctx: Context, id: string): Promise<FieldSync> {
  const { source, query, flow } = await prepareRun(ctx, id, null);
  const columns = await withSource(ctx, source, (connection, signal) => connection.describe(query, signal));
  const names = distinctNames(columns.map(({ name }) => name));
  const described = checkFlow(
    flow,
    columns.map(({ type }, i) => ({ name: names[i]!, type })),
  );
  return ctx.transaction(async (tx) => {
    const dataset = await loadResource(ctx, tx, DATASET, id, 'dataset:write');
    const before = dataset.fields;
    dataset.fields = mergeFields(before, described);
    await notifyBrokenFilters(tx, dataset.tenantId, dataset.id, before, dataset.fields);
    return { ...countFieldChanges(before, dataset.fields), fields: dataset.fields };
  });
}
