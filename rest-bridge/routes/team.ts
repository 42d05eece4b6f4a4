import { kind, permissions } from '../kind.ts';
import { collection, resource, value } from '../present.ts';
import { create, del, EXAMPLE_ID, get, post, put, type RouteOptions } from '../route.ts';

interface Team {
  id: string;
}
interface FeedItem {
  entityType: string;
  entityId: string;
}
interface Comment {
  id: string;
  teamId: string;
}
interface Member {
  teamId: string;
  user: { username: string };
}

const team = resource<Team>(
  `id tenant slug naturalId name description usageProfileId
  members { userId role joinedAt user { username displayName } }
  createdAt updatedAt permissions { read edit delete participate }`,
  ({ id }) => ({ self: `/teams/${id}`, 'svc:membership': `/teams/${id}/members` }),
);

export const membership = resource<Member>(
  'teamId userId role joinedAt user { username displayName }',
  ({ teamId, user }) => ({
    self: `/teams/${teamId}/members/${encodeURIComponent(user.username)}`,
    'svc:team': `/teams/${teamId}`,
    'svc:user': `/users/${encodeURIComponent(user.username)}`,
  }),
);

const feedItem = resource<FeedItem>(
  'id type entityType entityId userId user { username displayName } message createdAt viewed',
  ({ entityType, entityId }, { id }, pathOfKind) => ({
    'svc:team': `/teams/${id}`,
    'svc:resource':
      entityType === 'comment' ? `/teams/${id}/comments/${entityId}` : pathOfKind({ kind: entityType, id: entityId }),
  }),
);

const comment = resource<Comment>(
  'id message userId teamId createdAt permissions { delete }',
  ({ id, teamId }) => ({ self: `/teams/${teamId}/comments/${id}` }),
  { embed: { 'svc:user': { field: 'user', as: value('username displayName') } } },
);

/** The fields are below the root, and require more than their root field. */
const forParticipants: RouteOptions = { permission: 'team:participate' };

export default [
  ...kind('teams', 'team', team, {
    aspects: [permissions],
    rows: {
      create: { example: { name: 'Sales', description: 'Everybody who sells' } },
      update: { example: { name: 'Sales Europe' } },
      delete: { query: ['transferTo'] },
    },
  }),
  get('/teams/:id/members', 'team.members', collection('membership', membership)),
  get('/teams/:id/members/:username', 'team.member', membership),
  put('/teams/:id/members/:username', 'setTeamMember', membership, { example: { role: 'member' } }),
  del('/teams/:id/members/:username', 'removeTeamMember'),
  get('/teams/:id/feed', 'team.feed', collection('feed-item', feedItem), forParticipants),
  post('/teams/:id/_markFeedViewed', 'markFeedViewed', value('viewed'), { example: { activityIds: [EXAMPLE_ID] } }),
  get('/teams/:id/comments', 'team.comments', collection('comment', comment), forParticipants),
  create('/teams/:teamId/comments', 'createTeamComment', comment, {
    example: { message: 'The figures of May are complete.' },
  }),
  get('/teams/:teamId/comments/:id', 'team.comment', comment, forParticipants),
  del('/teams/:teamId/comments/:id', 'deleteTeamComment'),
];
