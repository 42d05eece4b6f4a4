import { Favorite, FavoriteResource } from '../../../entities/favorite.ts';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { User } from '../../../entities/user.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { ListFilter, Model, ModelColumn } from '../../core/read/model.ts';
import { readable } from './access-filter.ts';
import { belongsTo, defineModel, type ModelDefinition } from './define-model.ts';

/** Postgres reads the array once, not for each row. */
const IS_FAVORITE =
  'r.id = any(array(select f.resource_id from dws.favorite f where f.tenant_id = ? and f.user_id = ?))';

/** The viewer's favorites (true), or all other resources (false). */
export const favoriteFilter: ListFilter = (value, { tenantId, userId }) => ({
  sql: value ? IS_FAVORITE : `not ${IS_FAVORITE}`,
  params: [tenantId, userId],
});

/** Favorites are private, also from superusers. */
const ownFavorites: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

/** The viewer's favorites whose resource the viewer may still read. */
const ownReadableFavorites: AccessFilter = (viewer) => {
  const [own, access] = [ownFavorites(viewer)!, readable(viewer)];
  return access ? { sql: `${own.sql} and (${access.sql})`, params: [...own.params, ...access.params] } : own;
};

const column = (name: string, type: ModelColumn['type']): ModelColumn => ({ column: name, type, nullable: false });

/** The resource of a favorite `f`: one lookup in the table of its kind. */
const RESOURCE = OWNED_KINDS.map(
  ({ kind, table }) =>
    `select id, tenant_id, owner_id, name
      from dws.${table}
      where f.kind = '${kind}' and id = f.resource_id and tenant_id = f.tenant_id`,
).join(' union all ');

/** The favorites of all kinds as one list, the newest first. */
const favoriteResources: Model = {
  name: 'FavoriteResource',
  label: 'favorite',
  tenantColumn: 'tenant_id',
  table: `(select x.*, f.kind, f.user_id, f.created_at from dws.favorite f cross join lateral (${RESOURCE}) x)`,
  columns: {
    id: column('id', 'uuid'),
    kind: column('kind', 'text'),
    name: column('name', 'text'),
    createdAt: column('created_at', 'timestamp'),
  },
  relations: {},
  required: {},
  filters: {},
  searchedFields: ['name'],
  accessFilter: ownReadableFavorites,
  sortable: { name: 'lower(r."name")', kind: 'r."kind"', createdAt: 'r."created_at"' },
  defaultSort: '-createdAt',
};

export const favoriteModel = defineModel(Favorite, {
  accessFilter: ownFavorites,
  relations: { user: belongsTo(User, 'user_id') },
});

export const favoriteResourceModel: ModelDefinition = { entity: FavoriteResource, build: () => favoriteResources };
