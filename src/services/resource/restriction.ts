import type { Restriction } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import type { Viewer } from '../../core/viewer.ts';

/** The restriction of a viewer without shares, e.g. after the last share was deleted during the request. */
const NOTHING: Restriction = { rows: [], fields: new Set() };

interface RestrictingShare extends Record<string, unknown> {
  id: string;
  /** Null for all rows. */
  criteria: Record<string, unknown> | null;
  /** The criteria as text: equal for equal criteria. */
  rows: string;
  /** Null for all fields. */
  fields: string[] | null;
}

/**
 * Returns the restrictions of datasets by a viewer's shares, in the order of `ids`. Call it only for datasets on which
 * the viewer has restricted access.
 */
export async function loadRestrictions(
  query: Query,
  { tenantId, principals }: Pick<Viewer, 'tenantId' | 'principals'>,
  ids: readonly string[],
): Promise<Restriction[]> {
  const shares = await query<RestrictingShare>({
    text: `
      select s.resource_id as id, f.criteria, coalesce(f.criteria, '{}')::text as rows,
        case when s.restrict_fields and d.field_security_enabled then s.visible_fields end as fields
      from dws.share s
      join dws.dataset d on d.id = s.resource_id
      left join dws.saved_filter f on f.id = s.dataset_filter_id
      where s.tenant_id = $1 and s.resource_id = any($2) and s.principal = any($3)`,
    values: [tenantId, ids, principals],
  });
  return ids.map((id) => combineShares(shares.filter((share) => share.id === id)));
}

/**
 * Combines the shares of one dataset. A row is visible if any share shows it. Shares with equal row criteria form a
 * group and show the union of their fields; a field is visible if every group shows it, because a row does not reveal
 * which share shows it.
 */
function combineShares(shares: readonly RestrictingShare[]): Restriction {
  if (shares.length === 0) return NOTHING;
  const groups = [...Map.groupBy(shares, ({ rows }) => rows).values()];
  const fieldSets = groups.map(fieldsOfGroup).filter((names) => names !== null);
  return {
    rows: shares.some(({ criteria }) => criteria === null) ? null : groups.map(([share]) => share!.criteria!),
    fields: fieldSets.length === 0 ? null : fieldSets.reduce(intersectionOf),
  };
}

const fieldsOfGroup = (group: readonly RestrictingShare[]): Set<string> | null =>
  group.some(({ fields }) => fields === null) ? null : new Set(group.flatMap(({ fields }) => fields!));

const intersectionOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> =>
  new Set([...a].filter((name) => b.has(name)));
