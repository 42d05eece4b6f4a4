import { TeamComment } from '../../../entities/team-comment.ts';
import { Team } from '../../../entities/team.ts';
import { User } from '../../../entities/user.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';
import { throughParticipation } from './team-access.ts';

/** Read through its team. */
export const teamCommentModel = defineModel(TeamComment, {
  label: 'comment',
  nodeAccess: throughParticipation,
  searchedFields: [],
  relations: { user: belongsTo(User, 'user_id'), team: belongsTo(Team, 'team_id') },
});
