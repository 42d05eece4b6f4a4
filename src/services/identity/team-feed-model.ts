import { FeedItem } from '../../../entities/feed-item.ts';
import { User } from '../../../entities/user.ts';
import type { ListFilter, Model, ModelColumn } from '../../core/read/model.ts';
import { belongsTo, type ModelDefinition } from '../resource/define-model.ts';
import { ownRows } from '../resource/node-access.ts';
import { throughFeeds } from './team-feed.ts';

const column = (name: string, type: ModelColumn['type'], nullable = false): ModelColumn => ({
  column: name,
  type,
  nullable,
});

/** The marks of viewed activities: each user has their own. */
const feedViews: Model = {
  name: 'FeedView',
  label: 'view',
  table: 'dws.feed_view',
  tenantColumn: 'tenant_id',
  columns: { id: column('activity_id', 'uuid') },
  relations: {},
  required: {},
  filters: {},
  searchedFields: [],
  accessFilter: ownRows,
  sortable: {},
  defaultSort: 'id',
};

/** Filters by whether the viewer has viewed an item. Each item is one look-up in the primary key. */
const viewedFilter: ListFilter = (value, { userId }) => ({
  sql: `${value ? '' : 'not '}exists (
    select from dws.feed_view v where v.activity_id = r.id and v.user_id = ? and v.tenant_id = r.tenant_id
  )`,
  params: [userId],
});

/** The activities in feeds of teams. They are read through their team. */
const feedItems: Model = {
  name: 'FeedItem',
  label: 'feed item',
  table: '(select * from dws.activity where in_feed)',
  tenantColumn: 'tenant_id',
  columns: {
    id: column('id', 'uuid'),
    type: column('type', 'text'),
    entityType: column('kind', 'text'),
    entityId: column('resource_id', 'uuid'),
    userId: column('user_id', 'uuid', true),
    message: column('message', 'text'),
    createdAt: column('created_at', 'timestamp'),
  },
  relations: {
    user: belongsTo(User, 'user_id'),
    view: { kind: 'one', model: () => feedViews, join: 'r.activity_id = p.id' },
  },
  required: {},
  filters: { viewed: viewedFilter },
  searchedFields: [],
  nodeAccess: throughFeeds,
  sortable: {},
  defaultSort: '-createdAt',
};

export const feedItemModel: ModelDefinition = { entity: FeedItem, build: () => feedItems };
