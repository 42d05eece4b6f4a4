import { Activity } from '../../../entities/activity.ts';
import { AuditEvent } from '../../../entities/audit-event.ts';
import { Favorite, FavoriteResource } from '../../../entities/favorite.ts';
import { Folder } from '../../../entities/folder.ts';
import { Mail } from '../../../entities/mail.ts';
import { Notification } from '../../../entities/notification.ts';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { Resource } from '../../../entities/resource.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import { Share } from '../../../entities/share.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import { Tag } from '../../../entities/tag.ts';
import { User } from '../../../entities/user.ts';
import { isUuid } from '../../core/id.ts';
import { type AccessFilter, NO_ROWS } from '../../core/read/condition.ts';
import { containsPattern } from '../../core/read/list-arguments.ts';
import type { ColumnType, ListFilter, Model, ModelColumn } from '../../core/read/model.ts';
import { readable } from './access-filter.ts';
import { AUDIT_FILTERS } from './audit-log.ts';
import {
  type ModelDefinition,
  belongsTo,
  belongsToTeam,
  belongsToUser,
  defineModel,
  hasMany,
  hasManyJoined,
} from './define-model.ts';
import { superusersOnly, throughResource, throughVisibleResource } from './node-access.ts';
import { ownNotifications, readFilter } from './notification.ts';

const column = (name: string, type: ModelColumn['type']): ModelColumn => ({ column: name, type, nullable: false });

/** The rows of all kinds as one table, without drafts and snapshots. */
export const RESOURCES = `(${OWNED_KINDS.map(
  ({ kind, table, hasParents }) =>
    `select id, tenant_id, owner_id, folder_id, name, '${kind}' as kind
        from dws.${table}${hasParents ? ' where parent_id is null' : ''}`,
).join(' union all ')})`;

/** The resources of all kinds as one list. */
const resources: Model = {
  name: 'Resource',
  label: 'resource',
  tenantColumn: 'tenant_id',
  table: RESOURCES,
  columns: {
    id: column('id', 'uuid'),
    kind: column('kind', 'text'),
    name: column('name', 'text'),
  },
  relations: {},
  required: {},
  filters: {},
  searchedFields: ['name'],
  accessFilter: readable,
  sortable: {},
  defaultSort: 'name',
};

export const resourceModel: ModelDefinition = { entity: Resource, build: () => resources };

/** Folders whose name contains a text, ignoring case. */
const nameFilter: ListFilter = (value) => ({ sql: 'name ilike ?', params: [containsPattern(String(value))] });

export const folderModel = defineModel(Folder, {
  relations: {
    parent: belongsTo(Folder, 'parent_id'),
    subfolders: hasMany(Folder, 'parent_id', 'name'),
    resources: hasMany(Resource, 'folder_id', 'name'),
  },
  filters: { name: nameFilter },
});

export const shareModel = defineModel(Share, {
  nodeAccess: throughVisibleResource,
  relations: {
    user: belongsToUser('principal'),
    team: belongsToTeam('principal'),
    datasetFilter: belongsTo(SavedFilter, 'dataset_filter_id'),
  },
});

/** Read through its resource. */
export const activityModel = defineModel(Activity, {
  nodeAccess: throughVisibleResource,
  searchedFields: [],
  defaultSort: '-createdAt',
  relations: { user: belongsTo(User, 'user_id') },
});

export const notificationModel = defineModel(Notification, {
  accessFilter: ownNotifications,
  searchedFields: [],
  sortable: ['type', 'readAt', 'createdAt', 'updatedAt'],
  defaultSort: '-createdAt',
  filters: { read: readFilter },
});

export const mailModel = defineModel(Mail, {
  nodeAccess: superusersOnly,
  searchedFields: ['to', 'subject'],
  sortable: ['to', 'subject', 'status', 'attempts', 'sentAt', 'createdAt', 'updatedAt'],
  defaultSort: '-createdAt',
  relations: { user: belongsTo(User, 'user_id') },
});

export const auditEventModel = defineModel(AuditEvent, {
  nodeAccess: superusersOnly,
  relations: { user: belongsTo(User, 'user_id') },
  searchedFields: [],
  sortable: ['createdAt'],
  defaultSort: '-createdAt',
  filters: AUDIT_FILTERS,
});

/** Postgres reads the array once, not for each row. */
const IS_FAVORITE =
  'r.id = any(array(select f.resource_id from dws.favorite f where f.tenant_id = ? and f.user_id = ?))';

/** The viewer's favorites (true), or all other resources (false). */
export const favoriteFilter: ListFilter = (value, { tenantId, userId }) => ({
  sql: value ? IS_FAVORITE : `not ${IS_FAVORITE}`,
  params: [tenantId, userId],
});

/** Favorites are private, even from superusers. */
const ownFavorites: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

/** The viewer's favorites whose resource the viewer may still read. */
const ownReadableFavorites: AccessFilter = (viewer) => {
  const [own, access] = [ownFavorites(viewer)!, readable(viewer)];
  return access ? { sql: `${own.sql} and (${access.sql})`, params: [...own.params, ...access.params] } : own;
};

/** The resource of a favorite `f`: one lookup in the table of its kind. */
const RESOURCE_OF_FAVORITE = OWNED_KINDS.map(
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
  table: `(select x.*, f.kind, f.user_id, f.created_at from dws.favorite f cross join lateral (${RESOURCE_OF_FAVORITE}) x)`,
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
  sortable: {
    name: (row) => `lower(${row}."name")`,
    kind: (row) => `${row}."kind"`,
    createdAt: (row) => `${row}."created_at"`,
  },
  defaultSort: '-createdAt',
};

export const favoriteModel = defineModel(Favorite, {
  accessFilter: ownFavorites,
  relations: { user: belongsTo(User, 'user_id') },
});

export const favoriteResourceModel: ModelDefinition = { entity: FavoriteResource, build: () => favoriteResources };

/** The ids of a resource's tags, sorted. One index scan a row; the index returns them in this order. */
export const TAG_IDS: { sql: string; type: ColumnType } = {
  sql: `(select coalesce(json_agg(a.tag_id order by a.tag_id), '[]')
    from dws.tag_assignment a
    where a.tenant_id = p.tenant_id and a.resource_id = p.id)`,
  type: 'json',
};

/**
 * Resources with a tag, by its id: `resolveListArguments` has replaced names. Postgres reads the array once, not for
 * each row.
 */
export const tagFilter: ListFilter = (value, { tenantId }) =>
  isUuid(String(value))
    ? {
        sql: 'r.id = any(array(select a.resource_id from dws.tag_assignment a where a.tenant_id = ? and a.tag_id = ?))',
        params: [tenantId, value],
      }
    : NO_ROWS;

export const tagModel = defineModel(Tag, {
  relations: {
    creator: belongsTo(User, 'creator_id'),
    resources: hasManyJoined(
      Resource,
      'r.id in (select a.resource_id from dws.tag_assignment a where a.tenant_id = p.tenant_id and a.tag_id = p.id)',
      'name',
    ),
  },
});

export const tagAssignmentModel = defineModel(TagAssignment, {
  nodeAccess: throughResource,
  relations: { tag: belongsTo(Tag, 'tag_id') },
});
