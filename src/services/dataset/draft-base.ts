import type { DraftBase } from '../../../entities/dataset.ts';
import type { Transaction } from '../../core/platform.ts';
import type { ColumnType } from '../../core/read/model.ts';

/** A digest of what a dataset is but for its rows and its labels, as SQL over its row. What a saved query says that it follows is the query's own. */
const definitionOf = (d: string): string =>
  `md5(jsonb_build_array(${d}.query_id, ${d}.datasource_id, ${d}.query, ${d}.params, ${d}.flow, ${d}.settings)::text)`;

/** What people say about a field. A refresh that adds or removes fields changes none of it. */
const saidOf = (field: string): string =>
  `nullif(${field} ->> 'label', ${field} ->> 'name'), ${field} ->> 'description'`;

/** Whether the draft `p` was made of what its dataset is not any more, whatever became of the rows. */
export const STALE: { sql: string; type: ColumnType } = {
  sql: `(p.is_draft and exists (select from dws.dataset d where d.id = p.parent_id and (p.draft_base ->> 'definition' is distinct from ${definitionOf('d')}
    or exists (select from jsonb_array_elements(d.fields) f left join jsonb_array_elements(p.draft_base -> 'fields') b on b.value ->> 'name' = f.value ->> 'name'
      where (${saidOf('f.value')}) is distinct from (${saidOf('b.value')})))))`,
  type: 'boolean',
};

/** What a dataset is now, for a draft to be compared with later. */
export async function baseOf(tx: Transaction, tenantId: string, datasetId: string): Promise<DraftBase> {
  const [base] = await tx.query<DraftBase & Record<string, unknown>>({
    text: `select ${definitionOf('d')} as definition, name, description, fields from dws.dataset d where tenant_id = $1 and id = $2`,
    values: [tenantId, datasetId],
  });
  return base!;
}
