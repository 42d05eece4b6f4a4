import type { DraftBase } from '../../../entities/dataset.ts';
import type { Transaction } from '../../core/platform.ts';
import type { ColumnType } from '../../core/read/model.ts';

/**
 * SQL digest of the definition of the dataset `d`, without its rows and labels. For a linked dataset it contains the
 * id of the saved query, not its text.
 */
const definitionDigestSql = (d: string): string =>
  `md5(jsonb_build_array(${d}.query_id, ${d}.datasource_id, ${d}.query, ${d}.params, ${d}.flow, ${d}.settings)::text)`;

/** SQL of the label and description of a field. Refreshes that add or remove fields do not change them. */
const fieldTextsSql = (field: string): string =>
  `nullif(${field} ->> 'label', ${field} ->> 'name'), ${field} ->> 'description'`;

/** SQL of whether the dataset's definition has changed since the draft `p` was created. New rows do not count. */
export const DRAFT_STALE: { sql: string; type: ColumnType } = {
  sql: `(p.is_draft and exists (
    select from dws.dataset d
    where d.id = p.parent_id
      and (
        p.draft_base ->> 'definition' is distinct from ${definitionDigestSql('d')}
        or exists (
          select from jsonb_array_elements(d.fields) f
          left join jsonb_array_elements(p.draft_base -> 'fields') b on b.value ->> 'name' = f.value ->> 'name'
          where (${fieldTextsSql('f.value')}) is distinct from (${fieldTextsSql('b.value')})
        )
      )
  ))`,
  type: 'boolean',
};

/** Returns the current state of a dataset. Its draft is compared with it later. */
export async function loadDraftBase(tx: Transaction, tenantId: string, datasetId: string): Promise<DraftBase> {
  const [base] = await tx.query<DraftBase & Record<string, unknown>>({
    text: `
      select ${definitionDigestSql('d')} as definition, name, description, fields
      from dws.dataset d
      where tenant_id = $1 and id = $2`,
    values: [tenantId, datasetId],
  });
  return base!;
}
