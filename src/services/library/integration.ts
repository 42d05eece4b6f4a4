import type { CreateIntegrationInput, UpdateIntegrationInput } from '../../../entities/integration-input.ts';
import { Integration } from '../../../entities/integration.ts';
import { LIBRARY } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import type { Drive } from '../../core/drive.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { LEVEL, levelAllows } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { actingUserId } from '../../core/viewer.ts';
import { endConnections } from '../connection/end-connections.ts';
import { accessLevel, accessLevelInTransaction } from '../resource/access-level.ts';
import { loadResource } from '../resource/load-resource.ts';
import { checkUnused } from '../resource/references.ts';
import { canChange, loadUnowned, type UnownedKind } from '../resource/unowned-kind.ts';
import { chooseAddresses, isSameClient, type ClientAddresses } from './integration-addresses.ts';

/**
 * An integration belongs to the tenant or to one library. Its creator and superusers change an integration of the
 * tenant; all who may write a library change its integration.
 */
const INTEGRATION: UnownedKind<Integration> = { entity: Integration, what: 'integration' };

/**
 * Creates an integration, and sets it for a library that has none. Returns its id. Throws FORBIDDEN for addresses that
 * only superusers may set.
 */
export async function create(
  ctx: Context,
  { libraryId, clientSecret, name, type, clientId, ...addresses }: CreateIntegrationInput,
): Promise<string> {
  const { tenantId, superuser } = ctx.viewer;
  const content = {
    tenantId,
    name: checkText(name, 'name'),
    type: findDrive(ctx, type).id,
    clientId,
    sealedClientSecret: seal(ctx, clientSecret),
    ...chooseAddresses(findDrive(ctx, type), addresses, null, superuser),
  };
  return ctx.transaction(async (tx) => {
    const library = libraryId ? await loadResource(ctx, tx, LIBRARY, libraryId, 'library:write') : null;
    const own = { embedded: library !== null, ownLibraryId: library?.id ?? null, creatorId: actingUserId(ctx.viewer) };
    const { id } = tx.insert(newRow(Integration, { ...content, ...own }));
    if (library && !library.integrationId) library.integrationId = id;
    return id;
  });
}

/**
 * Updates an integration. Returns its id. Another type, client or address ends the connections of its libraries, which
 * were authorized for the former one.
 */
export async function update(
  ctx: Context,
  id: string,
  { clientSecret, name, type, clientId, ...addresses }: UpdateIntegrationInput,
): Promise<string> {
  const changed = await ctx.transaction(async (tx) => {
    const integration = await loadIntegration(ctx, tx, id, 'integration:edit');
    const drive = findDrive(ctx, type ?? integration.type);
    const client: Pick<Integration, 'type' | 'clientId'> & ClientAddresses = {
      type: drive.id,
      clientId: clientId ?? integration.clientId,
      ...chooseAddresses(drive, addresses, integration, ctx.viewer.superuser),
    };
    const isSame = isSameClient(client, integration);
    if (!isSame && clientSecret === undefined) await requireNoSecret(ctx, tx, integration.id);
    // The former addresses get the tokens that are revoked.
    const ended = isSame ? undefined : await endConnections(ctx, tx, { integrationId: integration.id });
    Object.assign(integration, client);
    if (name !== undefined) integration.name = checkText(name, 'name');
    if (clientSecret !== undefined) integration.sealedClientSecret = seal(ctx, clientSecret);
    return { id: integration.id, revoke: ended?.revoke };
  });
  await changed.revoke?.();
  return changed.id;
}

/** Deletes an integration. Throws CONFLICT listing the libraries that use it. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const integration = await loadIntegration(ctx, tx, id, 'integration:delete');
    await checkUnused(ctx, tx, 'integration', integration.id);
    tx.remove(integration);
  });
}

/**
 * Loads an integration for a change. Throws NOT_FOUND for an integration of a library that the viewer may not read, and
 * FORBIDDEN for an integration of a library that the viewer may not write.
 */
async function loadIntegration(
  ctx: Context,
  tx: Transaction,
  id: string,
  permission: 'integration:edit' | 'integration:delete',
): Promise<Integration> {
  const integration = isUuid(id) ? await tx.findOne(Integration, { id: id.toLowerCase() }) : null;
  const libraryId = integration?.ownLibraryId;
  if (libraryId) {
    const [library] = await tx.query<{ id: string; ownerId: string }>({
      text: `select id, owner_id as "ownerId" from dws.library where tenant_id = $1 and id = $2`,
      values: [ctx.viewer.tenantId, libraryId],
    });
    const level = library ? await accessLevelInTransaction(ctx, tx, library) : LEVEL.none;
    if (level === LEVEL.none) throw notFound({ what: INTEGRATION.what, id });
    if (!levelAllows(level, 'library:write')) throw forbidden({ permission });
  }
  const isAllowed = Boolean(libraryId);
  return loadUnowned(ctx, tx, INTEGRATION, id, permission, { ifMatch: ctx.ifMatch, isAllowed });
}

/**
 * Returns whether the viewer may change and delete an integration. `library` is the only library that it belongs to.
 */
export async function isEditable(
  ctx: Context,
  { creatorId, library }: { creatorId?: string | null; library?: { id: string; ownerId: string } | null },
): Promise<boolean> {
  if (!library) return canChange(INTEGRATION, ctx.viewer, creatorId);
  return levelAllows(await accessLevel(ctx, library), 'library:write');
}

/** Returns the provider of a type. Throws BAD_USER_INPUT for an unknown one. */
function findDrive({ platform }: Context, type: string): Drive {
  const drive = platform.drives.get(type);
  if (!drive) throw invalid('type', `must be one of ${[...platform.drives.keys()].join(', ')}`);
  return drive;
}

/** Throws BAD_USER_INPUT if there is a stored secret: it must not be sent to another client or address. */
async function requireNoSecret({ viewer }: Context, tx: Transaction, id: string): Promise<void> {
  const rows = await tx.query({
    text: `select id from dws.integration where tenant_id = $1 and id = $2 and sealed_client_secret is not null`,
    values: [viewer.tenantId, id],
  });
  if (rows.length > 0) throw invalid('clientSecret', 'is required when the type, the client or an address changes');
}

const seal = ({ platform }: Context, secret: string | null | undefined): string | null =>
  secret == null ? null : platform.secrets.seal(secret);
