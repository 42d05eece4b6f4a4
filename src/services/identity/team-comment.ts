import type { CreateTeamCommentInput } from '../../../entities/team-comment-input.ts';
import { TeamComment } from '../../../entities/team-comment.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { newRow } from '../../core/new-row.ts';
import { actingUserId, type Viewer } from '../../core/viewer.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { isTeamAllowed, loadTeam } from './team-access.ts';

/** Creates a comment in a team. Returns its id. Throws FORBIDDEN for others than members and superusers. */
export function create(ctx: Context, teamId: string, { message }: CreateTeamCommentInput): Promise<string> {
  const { tenantId } = ctx.viewer;
  const userId = actingUserId(ctx.viewer);
  return ctx.transaction(async (tx) => {
    const team = await loadTeam(ctx, tx, teamId, 'team:participate');
    return tx.insert(newRow(TeamComment, { tenantId, teamId: team.id, userId, message })).id;
  });
}

/** Returns whether the viewer may delete a comment: its writer while in the team, admins of the team and superusers. */
export const canDelete = (viewer: Viewer, { teamId, userId }: Pick<TeamComment, 'teamId' | 'userId'>): boolean =>
  isTeamAllowed(viewer, teamId, 'team:edit') ||
  (userId === viewer.userId && isTeamAllowed(viewer, teamId, 'team:participate'));

/** Deletes a comment. Throws FORBIDDEN unless `canDelete` permits it. */
export function remove(ctx: Context, teamId: string, id: string): Promise<void> {
  return ctx.transaction(async (tx) => {
    const team = await loadTeam(ctx, tx, teamId, 'team:participate');
    const key = { id: id.toLowerCase(), teamId: team.id };
    const comment = isUuid(id) ? await tx.findOne(TeamComment, key, { lock: 'update' }) : null;
    if (!comment) throw notFound({ what: 'comment', id });
    recordAuditTarget(ctx.request, 'comment', id, comment.id);
    if (!canDelete(ctx.viewer, comment)) throw forbidden({ permission: 'comment:delete' });
    checkVersion(ctx, 'comment', comment.version);
    tx.remove(comment);
  });
}
