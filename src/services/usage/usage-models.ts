import { Agent } from '../../../entities/agent.ts';
import { Team } from '../../../entities/team.ts';
import type { UsageEventFilter } from '../../../entities/usage-event-input.ts';
import { UsageEvent } from '../../../entities/usage-event.ts';
import { UsageProfile } from '../../../entities/usage-profile.ts';
import { User } from '../../../entities/user.ts';
import { type AccessFilter, NO_ROWS } from '../../core/read/condition.ts';
import type { ListFilter } from '../../core/read/model.ts';
import { belongsToUser, defineModel, equalsFilter, hasMany } from '../resource/define-model.ts';
import { superusersOnly, withGlobalPermission } from '../resource/node-access.ts';

const equals = (field: keyof UsageEvent): ListFilter => equalsFilter(UsageEvent, field);

const filters: Record<keyof UsageEventFilter, ListFilter> = {
  actor: equals('actor'),
  resourceType: equals('resourceType'),
  entityId: equals('entityId'),
  from: (value) => ({ sql: 'occurred_at >= ?', params: [value] }),
  to: (value) => ({ sql: 'occurred_at < ?', params: [value] }),
};

export const usageEventModel = defineModel(UsageEvent, {
  nodeAccess: withGlobalPermission('billing:manage'),
  relations: { user: belongsToUser('actor') },
  searchedFields: [],
  sortable: [],
  defaultSort: '-occurredAt',
  filters,
});

/** Filters profiles that are read through their assignees. */
const managersOfUsage: AccessFilter = ({ superuser, permissions }) =>
  superuser || permissions.has('billing:manage') || permissions.has('usage:write') ? null : NO_ROWS;

export const usageProfileModel = defineModel(UsageProfile, {
  accessFilter: managersOfUsage,
  nodeAccess: superusersOnly,
  sortable: ['name', 'slug', 'system', 'createdAt', 'updatedAt'],
  defaultSort: '-system,createdAt',
  relations: {
    teams: hasMany(Team, 'usage_profile_id', 'name'),
    users: hasMany(User, 'usage_profile_id', 'username'),
    agents: hasMany(Agent, 'usage_profile_id', 'name'),
  },
});
