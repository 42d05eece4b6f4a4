import { isDeepStrictEqual } from 'node:util';
import { Integration } from '../../../entities/integration.ts';
import type { CreateLibraryInput, UpdateLibraryInput } from '../../../entities/library-input.ts';
import type { Library } from '../../../entities/library.ts';
import { LIBRARY } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkNoApp } from '../../core/viewer.ts';
import { endConnections } from '../connection/end-connections.ts';
import { lockConcurrencyKey } from '../operation/operation-queue.ts';
import { cancelRunning } from '../operation/operation.ts';
import { findResourceId, loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { checkSettings } from './library-settings.ts';
import { syncKeyOf } from './start-sync.ts';
import { deleteSomeFiles } from './sync-delete.ts';

/** Revokes ended connections at their providers, after the commit. */
type Revoke = () => Promise<void>;
const revokeNothing: Revoke = async () => {};

/** Creates a library without files. Returns its id. */
export async function create(ctx: Context, { integrationId, settings, ...input }: CreateLibraryInput): Promise<string> {
  const checked = checkSettings(settings ?? {});
  return ctx.transaction(async (tx) => {
    const usedId = integrationId ? await resolveIntegration(tx, null, integrationId) : null;
    return (await createOwned(ctx, tx, LIBRARY, input, { settings: checked, integrationId: usedId })).id;
  });
}

/** Updates a library. Another integration ends its connection. Returns its id. */
export async function update(
  ctx: Context,
  id: string,
  { integrationId, settings, ...input }: UpdateLibraryInput,
): Promise<string> {
  const checked = settings === undefined ? undefined : checkSettings(settings ?? {});
  const { libraryId, revoke } = await ctx.transaction(async (tx) => {
    const library = await loadResource(ctx, tx, LIBRARY, id, 'library:write', { ifMatch: ctx.ifMatch });
    const ended =
      integrationId === undefined ? revokeNothing : await assignIntegration(ctx, tx, library, integrationId);
    // The database returns the keys of JSON in another order.
    if (checked && !isDeepStrictEqual(checked, library.settings)) {
      checkNoApp(ctx.viewer);
      library.settings = checked;
    }
    await updateOwned(ctx, tx, LIBRARY, library, input);
    return { libraryId: library.id, revoke: ended };
  });
  await revoke();
  return libraryId;
}

/**
 * Deletes a library with its files, its connection and its embedded integration. The janitor deletes the bytes. Many
 * files are deleted in parts: a partly deleted library has no connection, and can be deleted again.
 */
export async function remove(ctx: Context, id: string): Promise<void> {
  const { library, hasMore, revoke } = await ctx.transaction(async (tx) => {
    const locked = await lockToDelete(ctx, tx, id, ctx.ifMatch);
    const ended = await endConnections(ctx, tx, { libraryId: locked.id });
    cancelRunning(tx, locked.tenantId, syncKeyOf(locked.id));
    const isLarge = await deleteSomeFiles(tx, locked.tenantId, locked.id);
    if (!isLarge) tx.remove(locked);
    return { library: locked, hasMore: isLarge, revoke: ended.revoke };
  });
  await revoke();
  if (hasMore) await removeLarge(ctx, library);
}

/** Deletes the other files of a library, and finally the library. */
async function removeLarge(ctx: Context, { id, tenantId }: Library): Promise<void> {
  for (let hasMore = true; hasMore;)
    hasMore = await ctx.transaction(async (tx) => {
      lockConcurrencyKey(tx, syncKeyOf(id));
      return deleteSomeFiles(tx, tenantId, id);
    });
  await ctx.transaction(async (tx) => tx.remove(await lockToDelete(ctx, tx, id)));
}

/** Loads a library to delete, and locks it. Throws unless the viewer may delete it, and CONFLICT while it is used. */
async function lockToDelete(ctx: Context, tx: Transaction, id: string, ifMatch?: Context['ifMatch']): Promise<Library> {
  const libraryId = isUuid(id) ? id.toLowerCase() : await findResourceId(ctx, tx, LIBRARY.table, id);
  // Before the library, in the order in which a sync locks.
  if (libraryId) lockConcurrencyKey(tx, syncKeyOf(libraryId));
  const library = await loadResource(ctx, tx, LIBRARY, id, 'library:delete', { ifMatch });
  await checkUnused(ctx, tx, 'library', library.id);
  return library;
}

/** Sets the integration of a library. A different one ends its connection. Returns the id of the library. */
export const setIntegration = (ctx: Context, id: string, integrationId: string): Promise<string> =>
  update(ctx, id, { integrationId });

async function assignIntegration(
  ctx: Context,
  tx: Transaction,
  library: Library,
  integrationId: string | null,
): Promise<Revoke> {
  const usedId = integrationId === null ? null : await resolveIntegration(tx, library.id, integrationId);
  if (usedId === (library.integrationId ?? null)) return revokeNothing;
  checkNoApp(ctx.viewer);
  const { revoke } = await endConnections(ctx, tx, { libraryId: library.id });
  library.integrationId = usedId;
  return revoke;
}

/**
 * Returns the id of an integration and locks it against deletion until the transaction ends. Throws NOT_FOUND for an
 * unknown integration and for one that belongs to another library.
 */
async function resolveIntegration(tx: Transaction, libraryId: string | null, id: string): Promise<string> {
  const integration = isUuid(id)
    ? await tx.findOne(Integration, { id: id.toLowerCase() }, { lock: 'key share' })
    : null;
  if (!integration || (integration.embedded && integration.ownLibraryId !== libraryId))
    throw notFound({ what: 'integration', id });
  return integration.id;
}
