import { TeamMember } from '../../../entities/team-member.ts';
import { UsageProfile } from '../../../entities/usage-profile.ts';
import { User } from '../../../entities/user.ts';
import { belongsTo, defineModel, hasMany } from '../resource/define-model.ts';

export const userModel = defineModel(User, {
  key: { field: 'username', ignoreCase: true },
  searchedFields: ['username', 'givenName', 'familyName', 'displayName', 'email'],
  sortable: ['username', 'displayName', 'givenName', 'familyName', 'email', 'enabled', 'createdAt', 'updatedAt'],
  defaultSort: 'username',
  relations: {
    memberships: hasMany(TeamMember, 'user_id', 'joinedAt'),
    usageProfile: belongsTo(UsageProfile, 'usage_profile_id'),
  },
});
