import { FeedItem } from '../../../entities/feed-item.ts';
import { Resource } from '../../../entities/resource.ts';
import { TeamComment } from '../../../entities/team-comment.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import { UsageProfile } from '../../../entities/usage-profile.ts';
import { User } from '../../../entities/user.ts';
import { belongsTo, defineModel, hasMany, hasManyJoined } from '../resource/define-model.ts';

export const teamModel = defineModel(Team, {
  relations: {
    members: hasMany(TeamMember, 'team_id', 'joinedAt'),
    feed: hasManyJoined(FeedItem, `r.owner_id = 'team:' || p.id`, '-createdAt'),
    comments: hasMany(TeamComment, 'team_id', 'createdAt'),
    resources: hasManyJoined(Resource, `r.owner_id = 'team:' || p.id`, 'name'),
    usageProfile: belongsTo(UsageProfile, 'usage_profile_id'),
  },
});

export const teamMemberModel = defineModel(TeamMember, {
  name: 'Membership',
  label: 'member',
  relations: { user: belongsTo(User, 'user_id'), team: belongsTo(Team, 'team_id') },
});
