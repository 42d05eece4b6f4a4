import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { Column, Filter, Model } from '../../core/read/model.ts';
import { readable } from './access-filter.ts';

/** An array that is read once, and not a subselect for each row. */
const MINE = 'r.id = any(array(select f.resource_id from dws.favorite f where f.tenant_id = ? and f.user_id = ?))';

/** The viewer's favourites (true), or what is none (false). */
export const favoriteFilter: Filter = (value, { tenantId, userId }) => ({
  sql: value ? MINE : `not ${MINE}`,
  params: [tenantId, userId],
});

/** Nobody sees another's favourites, superusers neither. */
export const ownFavoritesFilter: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

/** Of those, what the viewer can still read. */
const readableFavorites: AccessFilter = (viewer) => {
  const [own, rule] = [ownFavoritesFilter(viewer)!, readable(viewer)];
  return rule ? { sql: `${own.sql} and (${rule.sql})`, params: [...own.params, ...rule.params] } : own;
};

const column = (name: string, type: Column['type']): Column => ({ column: name, type, nullable: false });

/** The resource of a favourite `f`: one probe of the table of its kind. */
const resource = OWNED_KINDS.map(
  ({ kind, table }) =>
    `select id, tenant_id, owner_id, name from dws.${table} where f.kind = '${kind}' and id = f.resource_id and tenant_id = f.tenant_id`,
).join(' union all ');

/** The favourites of every kind as one list, the newest first. */
export const favoriteResourceModel: Model = {
  name: 'FavoriteResource',
  what: 'favorite',
  tenant: 'tenant_id',
  table: `(select x.*, f.kind, f.user_id, f.created_at from dws.favorite f cross join lateral (${resource}) x)`,
  columns: {
    id: column('id', 'uuid'),
    kind: column('kind', 'text'),
    name: column('name', 'text'),
    createdAt: column('created_at', 'timestamp'),
  },
  relations: {},
  required: {},
  filters: {},
  text: ['name'],
  accessFilter: readableFavorites,
  sortable: { name: 'lower(r."name")', kind: 'r."kind"', createdAt: 'r."created_at"' },
  order: '-createdAt',
};
