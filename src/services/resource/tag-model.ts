import { Resource } from '../../../entities/resource.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import { Tag } from '../../../entities/tag.ts';
import { User } from '../../../entities/user.ts';
import { isUuid } from '../../core/id.ts';
import { NO_ROWS } from '../../core/read/condition.ts';
import type { ColumnType, ListFilter } from '../../core/read/model.ts';
import { belongsTo, defineModel, hasManyJoined } from './define-model.ts';
import { throughResource } from './node-access.ts';

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
