import type { TeamComment } from '../../../entities/team-comment.ts';
import type { TeamMember } from '../../../entities/team-member.ts';
import type { Team } from '../../../entities/team.ts';
import type { RowChange } from '../../core/platform.ts';
import { joinWords, reportedFields, type EventDraft } from './activity-draft.ts';
import type { ActivityActor } from './activity.ts';

/** A team as a resource that it owns itself, so that its feed contains the event. */
const teamResource = ({ id, name }: Team): EventDraft['resource'] => ({ id, name, ownerId: `team:${id}` });

/** Drafts the events for a change of a team. */
export function draftTeamEvents({ type, fields }: RowChange, team: Team): EventDraft[] {
  const common = { kind: 'team' as const, resource: teamResource(team), keys: [] };
  if (type !== 'update') return [{ ...common, event: `${type}d`, data: {}, sentence: (name) => `${type}d ${name}` }];
  const changed = reportedFields(fields);
  if (changed.length === 0) return [];
  const sentence = (name: string) => `changed ${joinWords(changed)} of ${name}`;
  return [{ ...common, event: 'updated', data: { fields: changed }, sentence }];
}

/** Drafts the event for a new comment. It does not contain the text, which can be deleted. */
export const draftCommentEvent = ({ id }: TeamComment, team: Team): EventDraft => ({
  kind: 'comment',
  resource: { ...teamResource(team), id },
  event: 'added',
  keys: [],
  data: { teamId: team.id },
  sentence: (name) => `commented in ${name}`,
});

/** Drafts the event for a new, changed or deleted membership of a team. */
export function draftMemberEvent(
  viewer: ActivityActor,
  { type }: RowChange,
  { userId, role }: TeamMember,
  team: Team,
): EventDraft {
  const common = { kind: 'team' as const, resource: teamResource(team), keys: [`user:${userId}`] };
  switch (type) {
    case 'create':
      return {
        ...common,
        event: 'member.added',
        data: { userId, role },
        sentence: (name, [member]) => `added ${member} to ${name} as ${role}`,
      };
    case 'update':
      return {
        ...common,
        event: 'member.role.changed',
        data: { userId, role },
        sentence: (name, [member]) => `changed the role of ${member} in ${name} to ${role}`,
      };
    case 'delete':
      return {
        ...common,
        event: 'member.removed',
        data: { userId },
        sentence: (name, [member]) => (userId === viewer.userId ? `left ${name}` : `took ${member} out of ${name}`),
      };
  }
}
