import type { Transaction } from '../../core/platform.ts';
import type { ColumnType } from '../../core/read/model.ts';
import { DRAFTED_COLUMNS, TEMPLATE_PARTS } from './template-draft-content.ts';

/** SQL of the parts of the template `t` in one table. */
const partsSql = (t: string, table: string, columns: readonly string[]): string => `(
  select jsonb_agg(jsonb_build_array(x.id, ${columns.map((column) => `x.${column}`).join(', ')}) order by x.id)
  from dws.${table} x
  where x.tenant_id = ${t}.tenant_id and x.template_id = ${t}.id)`;

/** SQL digest of everything of the template `t` that a draft copies. */
const contentDigestSql = (t: string): string =>
  `md5(jsonb_build_array(${[
    ...DRAFTED_COLUMNS.map((column) => `${t}.${column}`),
    ...TEMPLATE_PARTS.map(({ table, columns }) => partsSql(t, table, columns)),
  ].join(', ')})::text)`;

/** SQL of whether the template has changed since its draft `p` was created. */
export const TEMPLATE_DRAFT_STALE: { sql: string; type: ColumnType } = {
  sql: `(case when p.parent_id is null then false else exists (
    select from dws.template t
    where t.tenant_id = p.tenant_id and t.id = p.parent_id and p.draft_base is distinct from ${contentDigestSql('t')}
  ) end)`,
  type: 'boolean',
};

/** Returns the digest of a template for a later comparison. */
export async function loadDraftBase(tx: Transaction, tenantId: string, templateId: string): Promise<string> {
  const [base] = await tx.query<{ digest: string }>({
    text: `select ${contentDigestSql('t')} as digest from dws.template t where tenant_id = $1 and id = $2`,
    values: [tenantId, templateId],
  });
  return base!.digest;
}
