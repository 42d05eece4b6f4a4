import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import { User } from '../../../entities/user.ts';
import { belongsTo, defineModel, hasMany } from '../resource/define-model.ts';

export const teamModel = defineModel(Team, { relations: { members: hasMany(TeamMember, 'team_id', 'joinedAt') } });

export const teamMemberModel = defineModel(TeamMember, {
  name: 'Membership',
  label: 'member',
  relations: { user: belongsTo(User, 'user_id'), team: belongsTo(Team, 'team_id') },
});
