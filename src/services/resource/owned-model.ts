import { Activity } from '../../../entities/activity.ts';
import { Favorite } from '../../../entities/favorite.ts';
import { Folder } from '../../../entities/folder.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { Share } from '../../../entities/share.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import { Tag } from '../../../entities/tag.ts';
import type { ModelOptions } from '../../adapters/database/entity-model.ts';
import type { ListFilter, Relation } from '../../core/read/model.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { readable } from './access-filter.ts';
import {
  belongsTo,
  belongsToTeam,
  belongsToUser,
  defineModel,
  hasMany,
  type ModelDefinition,
  hasManyJoined,
} from './define-model.ts';
import { REFERENCES } from './references.ts';
import { favoriteFilter, tagFilter, TAG_IDS } from './resource-models.ts';

/** A bare id is the id of a user. */
const ownerFilter: ListFilter = (value) => ({
  sql: 'owner_id = ?',
  params: [/^(user|team):/.test(String(value)) ? value : `user:${String(value)}`],
});

const updatedSinceFilter: ListFilter = (value) => ({ sql: 'updated_at >= ?', params: [value] });

export const OWNER_RELATIONS = {
  ownerUser: belongsToUser('owner_id'),
  ownerTeam: belongsToTeam('owner_id'),
};

const OWNED_RELATIONS: Record<string, Relation> = {
  ...OWNER_RELATIONS,
  folder: belongsTo(Folder, 'folder_id'),
  shares: hasMany(Share, 'resource_id', 'createdAt'),
  tagAssignments: hasMany(TagAssignment, 'resource_id', 'tagId'),
  assignedTags: hasManyJoined(
    Tag,
    'r.id in (select a.tag_id from dws.tag_assignment a where a.tenant_id = p.tenant_id and a.resource_id = p.id)',
    'id',
  ),
  favorites: hasMany(Favorite, 'resource_id', 'createdAt'),
  activity: hasMany(Activity, 'resource_id', '-createdAt'),
  ...REFERENCES,
};

/**
 * Declares the read model of a resource with an owner. Its owner, and the principals that it is shared with, may read
 * it.
 */
export const defineOwnedModel = (entity: EntityType<OwnedRow>, options: ModelOptions = {}): ModelDefinition =>
  defineModel(entity, {
    accessFilter: readable,
    ...options,
    relations: { ...OWNED_RELATIONS, ...options.relations },
    computed: { tags: TAG_IDS, ...options.computed },
    filters: {
      ownerId: ownerFilter,
      tag: tagFilter,
      favorite: favoriteFilter,
      updatedSince: updatedSinceFilter,
      ...options.filters,
    },
  });
