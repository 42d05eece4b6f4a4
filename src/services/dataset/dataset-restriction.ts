import type { Restriction } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import type { Viewer } from '../../core/viewer.ts';

/** Who has lost the last share since their level was looked up sees nothing. */
const NOTHING: Restriction = { rows: [], fields: new Set() };

interface PartialShare extends Record<string, unknown> {
  id: string;
  /** Null is all rows. */
  criteria: Record<string, unknown> | null;
  /** The same criteria, the same text. */
  rows: string;
  /** Null is all fields. */
  fields: string[] | null;
}

/** What the shares of a viewer show of datasets, in the order of their ids. It is asked for those alone who see a part: whoever sees the whole has no restriction. */
export async function restrictions(
  query: Query,
  { tenantId, principals }: Pick<Viewer, 'tenantId' | 'principals'>,
  ids: readonly string[],
): Promise<Restriction[]> {
  const shares = await query<PartialShare>({
    name: 'restrictions',
    text: `select s.resource_id as id, f.criteria, coalesce(f.criteria, '{}')::text as rows, case when s.restrict_fields and d.field_security_enabled then s.visible_fields end as fields
      from dws.share s join dws.dataset d on d.id = s.resource_id left join dws.saved_filter f on f.id = s.dataset_filter_id
      where s.tenant_id = $1 and s.resource_id = any($2) and s.principal = any($3)`,
    values: [tenantId, ids, principals],
  });
  return ids.map((id) => combined(shares.filter((share) => share.id === id)));
}

/** Rows by any of the shares; fields by the shares of the same rows together, and of those by every group of shares, since a row says not which share shows it. */
function combined(shares: readonly PartialShare[]): Restriction {
  if (shares.length === 0) return NOTHING;
  const groups = new Map<string, PartialShare[]>();
  for (const share of shares) groups.set(share.rows, [...(groups.get(share.rows) ?? []), share]);
  const fields = [...groups.values()]
    .map((group) =>
      group.some((share) => share.fields === null) ? null : new Set(group.flatMap((share) => share.fields!)),
    )
    .filter((names) => names !== null);
  return {
    rows: shares.some(({ criteria }) => criteria === null)
      ? null
      : [...groups.values()].map(([share]) => share!.criteria!),
    fields:
      fields.length === 0 ? null : fields.reduce((all, names) => new Set([...all].filter((name) => names.has(name)))),
  };
}
