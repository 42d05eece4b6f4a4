import { Agent } from '../../../entities/agent.ts';
import { Team } from '../../../entities/team.ts';
import { UsageProfile } from '../../../entities/usage-profile.ts';
import { User } from '../../../entities/user.ts';
import { NO_ROWS, type AccessFilter } from '../../core/read/condition.ts';
import { defineModel, hasMany } from '../resource/define-model.ts';
import { superusersOnly } from '../resource/node-access.ts';

/** Filters profiles that are read through what they are assigned to. */
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
