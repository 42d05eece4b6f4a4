import { LIBRARY, TOOLKIT } from '../../../entities/owned-kinds.ts';
import type { Toolkit } from '../../../entities/toolkit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import type { TargetKey } from '../connection/connection-target.ts';
import { endConnections } from '../connection/end-connections.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createToolkitClient } from '../toolkit/toolkit-client.ts';
import { loadToolkitTarget } from '../toolkit/toolkit-target.ts';
import { startAuthorization, type StartedAuthorization } from './authorization.ts';

/** Starts the authorization of a library. Throws like `startAuthorization`. */
export const authorizeLibrary = (ctx: Context, id: string): Promise<StartedAuthorization> =>
  startAuthorization(ctx, { kind: 'library', id });

/**
 * Starts the authorization of a toolkit at the authorization server that its MCP server names. Throws like
 * `startAuthorization` and `createToolkitClient`.
 */
export async function authorizeToolkit(ctx: Context, id: string): Promise<StartedAuthorization> {
  const { tenantId } = ctx.viewer;
  const target = await ctx.platform.database.transaction(tenantId, (tx) => loadToolkitTarget(ctx, tx, id));
  const client = await createToolkitClient(ctx, target.resource as Toolkit);
  return startAuthorization(
    ctx,
    { kind: 'toolkit', id: target.resource.id },
    { client, configDigest: target.configDigest },
  );
}

/** Ends the connection of a library or toolkit and revokes it. Throws NOT_FOUND without one. */
export async function disconnect(ctx: Context, { kind, id }: TargetKey): Promise<void> {
  const { revoke } = await ctx.transaction(async (tx) => {
    const resource =
      kind === 'library'
        ? await loadResource(ctx, tx, LIBRARY, id, 'library:write')
        : await loadResource(ctx, tx, TOOLKIT, id, 'toolkit:write');
    const which = kind === 'library' ? { libraryId: resource.id } : { toolkitId: resource.id };
    const ended = await endConnections(ctx, tx, which);
    if (ended.count === 0) throw notFound({ what: 'connection of', id });
    return ended;
  });
  await revoke();
}
