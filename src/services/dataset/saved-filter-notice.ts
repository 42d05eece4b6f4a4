import type { Field } from '../../core/fields.ts';
import type { Transaction } from '../../core/platform.ts';
import { notify } from '../resource/notification.ts';
import { criteriaProblem } from './saved-filter-criteria.ts';

interface UsedFilter extends Record<string, unknown> {
  name: string;
  criteria: Record<string, unknown>;
  dataset: string;
  ownerId: string;
}

/**
 * Notifies the owner of a dataset about filters that no longer fit its fields after a change of the fields. Shares
 * with such a filter show no rows (docs/contract/access.md#restricted-shares).
 */
export async function notifyBrokenFilters(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  before: readonly Field[],
  after: readonly Field[],
): Promise<void> {
  const used = await tx.query<UsedFilter>({
    text: `
      select f.name, f.criteria, d.name as dataset, d.owner_id as "ownerId"
      from dws.saved_filter f
      join dws.dataset d on d.id = f.dataset_id
      where f.tenant_id = $1 and f.dataset_id = $2
        and exists (select 1 from dws.share s where s.dataset_filter_id = f.id)
      order by f.name, f.id`,
    values: [tenantId, datasetId],
  });
  for (const { name, criteria, dataset, ownerId } of used) {
    const problem = criteriaProblem(criteria, after, false);
    if (problem === null || criteriaProblem(criteria, before, false) !== null) continue;
    await notify(tx, tenantId, [ownerId], {
      type: 'dataset.filter.broken',
      message:
        `A share of ${dataset} no longer shows any rows: ` +
        `the saved filter ${name} does not fit its fields (${problem})`,
      resource: { kind: 'dataset', id: datasetId },
    });
  }
}
