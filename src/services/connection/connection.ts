import { LIBRARY, TOOLKIT } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { loadResource } from '../resource/load-resource.ts';
import type { TargetKey } from './connection-target.ts';
import { endConnections } from './end-connections.ts';

/** Ends the connection of a library or toolkit and revokes it. Throws NOT_FOUND if there is none. */
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
