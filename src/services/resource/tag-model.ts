import { isUuid } from '../../core/id.ts';
import { nothing } from '../../core/read/condition.ts';
import type { ColumnType, Filter } from '../../core/read/model.ts';

/** The ids of a resource's tags, as a column of every kind with owners: one probe of an index a row, in the order in which the index has them. */
export const TAGS_COLUMN: { sql: string; type: ColumnType } = {
  sql: `(select coalesce(json_agg(a.tag_id order by a.tag_id), '[]') from dws.tag_assignment a where a.tenant_id = p.tenant_id and a.resource_id = p.id)`,
  type: 'json',
};

/** The resources with a tag, by its id; names are ids by then (`resolvePage`). An array that is read once, and not a subselect for each row. */
export const tagFilter: Filter = (value, { tenantId }) =>
  isUuid(String(value))
    ? {
        sql: 'r.id = any(array(select a.resource_id from dws.tag_assignment a where a.tenant_id = ? and a.tag_id = ?))',
        params: [tenantId, value],
      }
    : nothing();
