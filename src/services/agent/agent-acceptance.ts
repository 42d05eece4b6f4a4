import type { Agent } from '../../../entities/agent.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { LEVEL } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { ownershipLevel } from '../resource/access-level.ts';

/*
 * An agent has the rights of its owner. So changes of another user to it, or to its assistant, have no effect
 * before the owner accepts the agent: by running or enabling it (docs/contract/agents.md#agents).
 */

/** Why an agent does not run: its owner has not accepted it. */
export const NOT_ACCEPTED = 'The owner has not accepted the agent yet';

/** Returns whether the viewer decides for the owner of an agent: the owner, or a superuser, who has all rights anyway. */
export const actsForOwner = ({ viewer }: Pick<Context, 'viewer'>, ownerId: string): boolean =>
  ownershipLevel(viewer, `user:${ownerId}`) >= LEVEL.owner;

/**
 * Checks that an agent may run. Its owner accepts it by running or enabling it: the caller marks it as accepted. Throws
 * CONFLICT for others while it is not accepted, and for handlers of apps.
 */
export function requireAccepted(ctx: Pick<Context, 'viewer'>, { accepted, ownerId }: Agent): void {
  const mayAccept = actsForOwner(ctx, ownerId) && ctx.viewer.authMethod !== 'app';
  if (!accepted && !mayAccept) throw conflict(NOT_ACCEPTED);
}

/**
 * Marks the agents of an assistant as not accepted, because the viewer has changed their behaviour. The viewer's own
 * agents, and for a superuser all, stay accepted. A handler of an app accepts nothing for its caller.
 */
export function withdrawAcceptance({ viewer }: Pick<Context, 'viewer'>, tx: Transaction, assistantId: string): void {
  const isApp = viewer.authMethod === 'app';
  if (viewer.superuser && !isApp) return;
  tx.execute({
    text: `
      update dws.agent set accepted = false, version = version + 1, updated_at = now()
      where tenant_id = $1 and id in (
        select id from dws.agent
        where tenant_id = $1 and assistant_id = $2 and owner_id is distinct from $3 and accepted
        order by id for update
      )`,
    values: [viewer.tenantId, assistantId, isApp ? null : viewer.userId],
  });
}
