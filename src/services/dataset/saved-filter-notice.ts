import type { Field } from '../../core/fields.ts';
import type { Transaction } from '../../core/platform.ts';
import { notify } from '../resource/notification.ts';
import { problemOf } from './saved-filter-criteria.ts';

interface UsedFilter extends Record<string, unknown> {
  name: string;
  criteria: Record<string, unknown>;
  dataset: string;
  ownerId: string;
}

/** Tells the owner of a dataset whose fields have changed of the filters that no longer fit them, so that their shares show no rows (contract 3). */
export async function notifyBrokenFilters(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  before: readonly Field[],
  after: readonly Field[],
): Promise<void> {
  const used = await tx.query<UsedFilter>({
    text: `select f.name, f.criteria, d.name as dataset, d.owner_id as "ownerId" from dws.saved_filter f join dws.dataset d on d.id = f.dataset_id
      where f.tenant_id = $1 and f.dataset_id = $2 and exists (select 1 from dws.share s where s.dataset_filter_id = f.id) order by f.name, f.id`,
    values: [tenantId, datasetId],
  });
  for (const { name, criteria, dataset, ownerId } of used) {
    const problem = problemOf(criteria, after, false);
    if (problem === null || problemOf(criteria, before, false) !== null) continue;
    const message = `A share of ${dataset} shows no rows any more: the saved filter ${name} does not fit its fields (${problem})`;
    await notify(tx, tenantId, [ownerId], {
      type: 'dataset.filter.broken',
      message,
      resource: { kind: 'dataset', id: datasetId },
    });
  }
}
