import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { badInput, forbidden } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkNoApp } from '../../core/viewer.ts';
import { loadResource } from '../resource/load-resource.ts';
import { mayShare } from './dataset-share.ts';

const MAX_DATASETS = 1000;

/**
 * Enables or disables field security of datasets, all or none of them. Each requires the permission `dataset:share`.
 * Returns the new values by dataset id.
 */
export async function setFieldSecurity(
  ctx: Context,
  enabledByKey: Record<string, unknown>,
): Promise<Record<string, boolean>> {
  const entries = Object.entries(enabledByKey);
  if (entries.length > MAX_DATASETS) throw badInput(`At most ${MAX_DATASETS} datasets can be updated in one call`);
  for (const [key, enabled] of entries) if (typeof enabled !== 'boolean') throw invalid(key, 'must be true or false');
  return ctx.transaction(async (tx) => {
    const enabledById: Record<string, boolean> = {};
    // A fixed order prevents deadlocks between two calls.
    for (const [key, enabled] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
      const dataset = await loadResource(ctx, tx, DATASET, key, 'dataset:share');
      if (dataset.id in enabledById) throw badInput(`The dataset ${dataset.id} is named twice`);
      dataset.fieldSecurityEnabled = enabledById[dataset.id] = enabled as boolean;
    }
    return enabledById;
  });
}

/** Changes field security of a loaded dataset. Throws FORBIDDEN without `dataset:share`, since shares depend on it. */
export async function changeFieldSecurity(
  ctx: Context,
  tx: Transaction,
  dataset: Dataset,
  enabled: boolean,
): Promise<void> {
  checkNoApp(ctx.viewer);
  if (!(await mayShare(ctx, tx, dataset))) throw forbidden({ permission: 'dataset:share' });
  dataset.fieldSecurityEnabled = enabled;
}
