import type { MikroORM } from '@mikro-orm/postgresql';
import { Activity } from '../../../entities/activity.ts';
import { ApiToken } from '../../../entities/api-token.ts';
import { App } from '../../../entities/app.ts';
import { AuditEvent } from '../../../entities/audit-event.ts';
import { DatasetReference } from '../../../entities/dataset-reference.ts';
import { Dataset } from '../../../entities/dataset.ts';
import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { Favorite, FavoriteResource } from '../../../entities/favorite.ts';
import { Folder } from '../../../entities/folder.ts';
import { Mail } from '../../../entities/mail.ts';
import { Notification } from '../../../entities/notification.ts';
import { Operation } from '../../../entities/operation.ts';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { Report } from '../../../entities/report.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { Session } from '../../../entities/session.ts';
import { Share } from '../../../entities/share.ts';
import { StoredFile } from '../../../entities/stored-file.ts';
import { SuiteMember } from '../../../entities/suite-member.ts';
import { Suite } from '../../../entities/suite.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import { Tag } from '../../../entities/tag.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import { UserSetting } from '../../../entities/user-setting.ts';
import { User } from '../../../entities/user.ts';
import { Visual } from '../../../entities/visual.ts';
import { modelOf, type ModelExtras } from '../../adapters/database/model-of.ts';
import { patternOf } from '../../core/read/list-arguments.ts';
import type { Filter, Model, Relation } from '../../core/read/model.ts';
import { MAX_CHILDREN, toMany, toOne } from '../../core/read/model.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { DRAFT_STALE } from '../dataset/draft-base.ts';
import { FILTER_ACCESS, FILTER_USED } from '../dataset/saved-filter-model.ts';
import { USER_SETTING_ACCESS, viewerSettings } from '../dataset/user-setting.ts';
import { MEMBER_ACCESS } from '../datasource/suite.ts';
import { SNAPSHOT_IDS } from '../report/dataset-reference-view.ts';
import { readable, readableDatasets, readableThrough, fullyVisible } from './access-filter.ts';
import { AUDIT_FILTERS } from './audit-log.ts';
import { favoriteFilter, favoriteResourceModel, ownFavoritesFilter } from './favorite-model.ts';
import { ownNotifications, READ } from './notification.ts';
import { REFERENCES } from './references.ts';
import { tagFilter, TAGS_COLUMN } from './tag-model.ts';

const model = (kind: EntityType) => () => modelFor(kind);

/** The user or the team that a column names as a principal. */
const principal = (kind: EntityType, type: 'user' | 'team', column: string): Relation => ({
  kind: 'one',
  model: model(kind),
  join: `r.id = case when p.${column} like '${type}:%' then substr(p.${column}, 6)::uuid end`,
});

const ownerId: Filter = (value) => ({
  sql: 'owner_id = ?',
  params: [/^(user|team):/.test(String(value)) ? value : `user:${String(value)}`],
});

const nameHolds: Filter = (value) => ({ sql: 'name ilike ?', params: [patternOf(String(value))] });

/** Rows that belong to a dataset and are datasets themselves. */
const parts = (which: string, order: string): Relation => ({
  kind: 'many',
  model: model(Dataset),
  join: `r.parent_id = p.id and ${which}`,
  order,
  limit: MAX_CHILDREN,
});

/** What all kinds with owners have in common. */
const owned = (more: ModelExtras = {}): ModelExtras => ({
  accessFilter: readable,
  ...more,
  relations: {
    ownerUser: principal(User, 'user', 'owner_id'),
    ownerTeam: principal(Team, 'team', 'owner_id'),
    folder: toOne(model(Folder), 'folder_id'),
    shares: toMany(model(Share), 'resource_id', 'createdAt'),
    tagAssignments: toMany(model(TagAssignment), 'resource_id', 'tagId'),
    favorites: toMany(model(Favorite), 'resource_id', 'createdAt'),
    activity: toMany(model(Activity), 'resource_id', '-createdAt'),
    ...REFERENCES,
    ...more.relations,
  },
  computed: { tags: TAGS_COLUMN, ...more.computed },
  filters: { ownerId, tag: tagFilter, favorite: favoriteFilter, ...more.filters },
});

/** What the read path must be told of each kind beside what MikroORM knows: rights, relations, what is searched and sorted. */
const EXTRAS = new Map<EntityType, ModelExtras>([
  [
    User,
    {
      key: { field: 'username', foldCase: true },
      text: ['username', 'givenName', 'familyName', 'displayName', 'email'],
      order: 'username',
      sortable: ['username', 'displayName', 'givenName', 'familyName', 'email', 'enabled', 'createdAt', 'updatedAt'],
      relations: { memberships: toMany(model(TeamMember), 'user_id', 'joinedAt') },
    },
  ],
  [Team, { relations: { members: toMany(model(TeamMember), 'team_id', 'joinedAt') } }],
  [
    TeamMember,
    {
      name: 'Membership',
      what: 'member',
      relations: { user: toOne(model(User), 'user_id'), team: toOne(model(Team), 'team_id') },
    },
  ],
  [Session, { order: '-createdAt' }],
  [ApiToken, { what: 'token', order: '-createdAt' }],
  [Operation, { order: '-createdAt' }],
  [
    Mail,
    {
      text: ['to', 'subject'],
      sortable: ['to', 'subject', 'status', 'attempts', 'sentAt', 'createdAt', 'updatedAt'],
      order: '-createdAt',
      relations: { user: toOne(model(User), 'user_id') },
    },
  ],
  [
    Notification,
    {
      accessFilter: ownNotifications,
      text: [],
      sortable: ['type', 'readAt', 'createdAt', 'updatedAt'],
      order: '-createdAt',
      filters: { read: READ },
    },
  ],
  [Share, { relations: { user: principal(User, 'user', 'principal'), team: principal(Team, 'team', 'principal') } }],
  // Whoever meets an activity has read its resource already.
  [Activity, { text: [], order: '-createdAt', relations: { user: toOne(model(User), 'user_id') } }],
  [AuditEvent, { text: [], sortable: ['createdAt'], order: '-createdAt', filters: AUDIT_FILTERS }],
  [Tag, {}],
  [TagAssignment, { relations: { tag: toOne(model(Tag), 'tag_id') } }],
  [Favorite, { accessFilter: ownFavoritesFilter }],
  [
    Folder,
    {
      relations: { parent: toOne(model(Folder), 'parent_id'), subfolders: toMany(model(Folder), 'parent_id', 'name') },
      filters: { name: nameHolds },
    },
  ],
  [StoredFile, { what: 'file' }],
  [
    Datasource,
    owned({
      sortable: ['name', 'slug', 'type', 'createdAt', 'updatedAt'],
      relations: {
        links: toMany(model(DatasourceLink), 'source_datasource_id', 'createdAt'),
        storedFile: toOne(model(StoredFile), 'file_id'),
      },
    }),
  ],
  // Whoever meets a link has read its source already.
  [
    DatasourceLink,
    {
      what: 'link',
      accessFilter: readableThrough('datasource', 'target_datasource_id'),
      relations: { target: toOne(model(Datasource), 'target_datasource_id') },
    },
  ],
  [Suite, { relations: { members: toMany(model(SuiteMember), 'suite_id', 'position') } }],
  [SuiteMember, { accessFilter: MEMBER_ACCESS }],
  [SavedQuery, owned({ what: 'query', relations: { datasource: toOne(model(Datasource), 'datasource_id') } })],
  [
    Dataset,
    owned({
      accessFilter: readableDatasets,
      sortable: ['name', 'slug', 'records', 'size', 'dataUpdatedAt', 'createdAt', 'updatedAt'],
      orders: { records: fullyVisible, size: fullyVisible },
      computed: { stale: DRAFT_STALE },
      relations: {
        parent: toOne(model(Dataset), 'parent_id'),
        drafts: parts('r.is_draft', 'createdAt'),
        ownSettings: viewerSettings(model(UserSetting)),
        snapshots: parts('r.is_snapshot', '-snapshotDate'),
        filters: toMany(model(SavedFilter), 'dataset_id', 'name'),
        visuals: toMany(model(Visual), 'dataset_id', '-pinned,position'),
        datasource: toOne(model(Datasource), 'datasource_id'),
        savedQuery: toOne(model(SavedQuery), 'query_id'),
      },
    }),
  ],
  [UserSetting, { accessFilter: USER_SETTING_ACCESS }],
  [
    SavedFilter,
    {
      what: 'filter',
      accessFilter: FILTER_ACCESS,
      computed: { used: FILTER_USED },
      relations: {
        dataset: toOne(model(Dataset), 'dataset_id'),
        ownerUser: principal(User, 'user', 'owner_id'),
        ownerTeam: principal(Team, 'team', 'owner_id'),
      },
    },
  ],
  // Whoever meets a visual has read its dataset already.
  [Visual, { order: 'position', relations: { dataset: toOne(model(Dataset), 'dataset_id') } }],
  [Report, owned({ relations: { datasetReferences: toMany(model(DatasetReference), 'report_id', 'createdAt') } })],
  // Whoever meets a reference has read its report already.
  [
    DatasetReference,
    {
      text: [],
      order: 'createdAt',
      relations: { dataset: toOne(model(Dataset), 'dataset_id') },
      computed: { snapshotIds: SNAPSHOT_IDS },
    },
  ],
  [App, owned({ sortable: ['name', 'slug', 'status', 'deployedAt', 'createdAt', 'updatedAt'] })],
]);

const models = new Map<EntityType, Model>();

/** Takes over what MikroORM found out about the entities. The entities are the same for every database, so once is enough. */
export function useMetadata(orm: MikroORM): void {
  if (models.size) return;
  const ownedKinds = OWNED_KINDS.map(({ entity }): [EntityType, ModelExtras] => [entity as EntityType, owned()]);
  for (const [kind, extras] of new Map([...ownedKinds, ...EXTRAS]))
    models.set(kind, modelOf(orm.getMetadata().get(kind as never), { schema: 'dws', ...extras }, modelFor));
  models.set(FavoriteResource, favoriteResourceModel);
}

/** The model of a stored type. */
export function modelFor(kind: EntityType): Model {
  const found = models.get(kind);
  if (!found) throw new Error(`The read path does not know ${kind.name}`);
  return found;
}
