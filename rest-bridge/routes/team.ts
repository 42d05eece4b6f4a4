import { collection, resource } from '../present.ts';
import { del, get, kind, permissions, put } from '../route.ts';

interface Team {
  id: string;
}
interface Member {
  teamId: string;
  user: { username: string };
}

const team = resource<Team>(
  `id tenant slug naturalId name description usageProfileId
  members { userId role joinedAt user { username displayName } }
  createdAt updatedAt permissions { read edit delete }`,
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

export default [
  ...kind('teams', 'team', team, { aspects: [permissions], rows: { delete: { query: ['transferTo'] } } }),
  get('/teams/:id/members', 'team.members', collection('membership', membership)),
  get('/teams/:id/members/:username', 'team.member', membership),
  put('/teams/:id/members/:username', 'setTeamMember', membership),
  del('/teams/:id/members/:username', 'removeTeamMember'),
];
