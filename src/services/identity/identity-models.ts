import { ApiToken } from '../../../entities/api-token.ts';
import { FeedItem } from '../../../entities/feed-item.ts';
import { IdentityProvider } from '../../../entities/identity-provider.ts';
import { Resource } from '../../../entities/resource.ts';
import { Session } from '../../../entities/session.ts';
import { TeamComment } from '../../../entities/team-comment.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import { UsageProfile } from '../../../entities/usage-profile.ts';
import { User } from '../../../entities/user.ts';
import { type AccessFilter, NO_ROWS } from '../../core/read/condition.ts';
import { belongsTo, defineModel, hasMany, hasManyJoined } from '../resource/define-model.ts';
import { ownRows } from '../resource/node-access.ts';
import { throughParticipation } from './team-access.ts';

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

/** Read through its team. */
export const teamCommentModel = defineModel(TeamComment, {
  label: 'comment',
  nodeAccess: throughParticipation,
  searchedFields: [],
  relations: { user: belongsTo(User, 'user_id'), team: belongsTo(Team, 'team_id') },
});

/** Open sessions of the viewer. */
const ownOpenSessions: AccessFilter = ({ userId }) => ({
  sql: 'r.user_id = ? and r.expires_at > now()',
  params: [userId],
});

export const sessionModel = defineModel(Session, { nodeAccess: ownOpenSessions, defaultSort: '-createdAt' });

export const apiTokenModel = defineModel(ApiToken, { label: 'token', nodeAccess: ownRows, defaultSort: '-createdAt' });

export const identityProviderModel = defineModel(IdentityProvider, {
  nodeAccess: ({ superuser, authMethod }) => (superuser && authMethod === 'session' ? null : NO_ROWS),
  searchedFields: ['name', 'domain', 'issuer'],
  sortable: ['name', 'domain', 'issuer', 'enabled', 'createdAt', 'updatedAt'],
  defaultSort: 'name',
  relations: {
    teams: hasManyJoined(Team, `r.id::text in (select jsonb_array_elements_text(p.team_ids))`, 'name'),
  },
});
