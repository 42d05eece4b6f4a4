import { ENTRANCE_SHARES, type HandlerTask } from '../../core/app-run.ts';
import type { WorkspaceKey } from '../../core/app-workspace.ts';
import { isPrivate } from '../../core/authority.ts';
import type { MAX_HANDLER_DEPTH } from '../../core/handler-depth.ts';
import type { SandboxTask } from '../../core/sandbox.ts';
import { idOfPrincipal } from '../../core/viewer.ts';

/** The places of handlers by how many handlers called each other. Those that are called never wait for their callers. */
const PURPOSES = ['handler', 'called', 'nested'] as const satisfies { length: typeof MAX_HANDLER_DEPTH };

/**
 * Returns the place of a handler, and who occupies it: a visitor, of the places of the owner of the app. Webhooks do not take
 * the places of views. Nested handlers have too few places to keep the entrances apart. Of a private run it is its caller alone.
 */
export function placeOf(task: HandlerTask): Pick<SandboxTask, 'purpose' | 'caller'> {
  const { app, ctx, authority, depth, entrance = 'view' } = task;
  const { tenantId } = app;
  const purpose = PURPOSES[depth]!;
  if (isPrivate(authority)) return { purpose: `private-${purpose}`, caller: { tenantId, userId: ctx.viewer.userId } };
  const [ownerId, visitorId] = [idOfPrincipal(app.ownerId), visitorOf(task)];
  if (depth > 0) return { purpose, caller: { tenantId, userId: ownerId, visitorId } };
  const share = ENTRANCE_SHARES[entrance];
  return { purpose, caller: { tenantId, userId: `${ownerId} ${entrance}`, share, visitorId } };
}

/**
 * Returns the only user that the code of a handler is kept for: the calls of a private run can depend on the data it
 * has read.
 */
export const codeUserOf = ({ authority, depth, ctx }: HandlerTask): string | undefined =>
  depth > 0 && isPrivate(authority) ? ctx.viewer.userId : undefined;

/** Returns the owner of the memory that the body of a call shares: the app, or for a private run its caller. */
export const bodyOwnerOf = ({ app, authority, ctx }: Pick<HandlerTask, 'app' | 'authority' | 'ctx'>): string =>
  isPrivate(authority) ? `user ${ctx.viewer.userId}` : app.id;

/** Returns the key of the workspace of a handler's app, whose connections visitors share like places. */
export function workspaceKeyOf(task: HandlerTask): WorkspaceKey {
  const { id: appId, tenantId, ownerId } = task.app;
  return { tenantId, appId, ownerId: idOfPrincipal(ownerId), visitorId: visitorOf(task) };
}

const visitorOf = ({ ctx, visitorId = ctx.viewer.userId }: HandlerTask): string => visitorId;
