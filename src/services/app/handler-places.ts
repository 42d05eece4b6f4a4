import { ENTRANCE_SHARES, type HandlerTask } from '../../core/app-run.ts';
import type { WorkspaceKey } from '../../core/app-workspace.ts';
import type { Caller } from '../../core/fair-gate.ts';
import { idOfPrincipal } from '../../core/viewer.ts';

/**
 * Returns who occupies the place of a handler: a visitor, of the places of the owner of the app. Webhooks do not take the
 * places of views. Nested handlers have too few places to keep the entrances apart.
 */
export function placeCallerOf(task: HandlerTask): Caller {
  const { app, depth, entrance = 'view' } = task;
  const [tenantId, ownerId, visitorId] = [app.tenantId, idOfPrincipal(app.ownerId), visitorOf(task)];
  if (depth > 0) return { tenantId, userId: ownerId, visitorId };
  return { tenantId, userId: `${ownerId} ${entrance}`, share: ENTRANCE_SHARES[entrance], visitorId };
}

/** Returns the key of the workspace of a handler's app, whose connections visitors share like places. */
export function workspaceKeyOf(task: HandlerTask): WorkspaceKey {
  const { id: appId, tenantId, ownerId } = task.app;
  return { tenantId, appId, ownerId: idOfPrincipal(ownerId), visitorId: visitorOf(task) };
}

const visitorOf = ({ ctx, visitorId = ctx.viewer.userId }: HandlerTask): string => visitorId;
