import type { UpdateOwnedInput } from '../../../entities/owned-input.ts';
import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden, refused } from '../../core/errors.ts';
import { assignPresent, checkOptionalText, checkText } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { LEVEL, levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { actingPrincipal, checkNoApp } from '../../core/viewer.ts';
import { accessLevelInTransaction, ownershipLevel } from './access-level.ts';
import { checkOwnAccess } from './app-access.ts';
import { checkNoDraft } from './draft-row.ts';
import { loadResource } from './load-resource.ts';
import { resolveIds, resolvePrincipal } from './resolve-ids.ts';
import { setSlug } from './resource-slug.ts';
import { addTags, replaceTags } from './tag-assignment.ts';

/** Returns the columns that the read path must select for the viewer's level on a row. */
export const accessLevelColumns = ({ hasParents }: Pick<OwnedKind<OwnedRow>, 'hasParents'>): string[] => [
  'id',
  'ownerId',
  ...(hasParents ? ['parent.id', 'parent.ownerId'] : []),
];

/** Creates a row of a kind from the common input fields and `ownFields`, the fields of this kind alone. */
export async function createOwned<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  input: UpdateOwnedInput,
  ownFields: Partial<T>,
): Promise<T> {
  const { tenantId } = ctx.viewer;
  const name = checkText(input.name, 'name');
  const ownerId = input.ownerId ? await resolvePrincipal(tx, tenantId, input.ownerId) : actingPrincipal(ctx.viewer);
  checkNewOwner(ctx, ownerId);
  const common: Partial<OwnedRow> = {
    tenantId,
    name,
    description: checkOptionalText(input.description ?? null, 'description'),
    ownerId,
    folderId: await resolveFolder(tx, tenantId, input.folderId),
  };
  const row = newRow<T>(kind.entity, { ...ownFields, ...common } as Partial<T>);
  await setSlug(tx, kind, row, input.slug);
  tx.insert(row);
  await addTags(ctx, tx, kind, row, input.tags ?? []);
  return row;
}

/** Updates the common fields that the input contains. Other fields are unchanged. */
export async function updateOwned<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  row: T,
  input: UpdateOwnedInput,
): Promise<T> {
  const { tenantId } = ctx.viewer;
  const { slug, ownerId, folderId, name, description, tags } = input;
  assignPresent<OwnedRow>(
    row,
    {
      name: name === undefined ? undefined : checkText(name, 'name'),
      description: description === undefined ? undefined : checkOptionalText(description, 'description'),
    },
    ['description'],
  );
  if (slug !== undefined && slug !== row.slug) await setSlug(tx, kind, row, slug);
  if (folderId !== undefined && folderId !== (row.folderId ?? null)) {
    checkNoDraft(kind, row, 'folder');
    row.folderId = await resolveFolder(tx, tenantId, folderId);
  }
  if (tags !== undefined) await replaceTags(ctx, tx, kind, row, tags ?? []);
  if (ownerId !== undefined) await changeOwner(ctx, tx, kind, row, ownerId);
  return row;
}

/** Returns the permission that a change of the owner of a kind requires. */
export const ownerPermission = <T extends OwnedRow>({ kind, ownerAbility = 'changeOwner' }: OwnedKind<T>) =>
  `${kind}:${ownerAbility}` as ResourcePermission;

/** Transfers a resource to another principal. Returns its id. */
export async function setOwner<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  ownerId: string,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const row = await loadResource(ctx, tx, kind, id, ownerPermission(kind), { ifMatch: ctx.ifMatch });
    checkNoDraft(kind, row, 'owner');
    await changeOwner(ctx, tx, kind, row, ownerId);
    return row.id;
  });
}

/**
 * Transfers a row to another principal. Throws FORBIDDEN without the permission on the row or, for a team, without the
 * role `memberPlus` in it (docs/contract/resources.md#owners). Throws CONFLICT for a draft or snapshot.
 */
async function changeOwner<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  row: T,
  principal: string,
): Promise<void> {
  const ownerId = await resolvePrincipal(tx, ctx.viewer.tenantId, principal);
  if (ownerId === row.ownerId) return;
  checkNoApp(ctx.viewer);
  const permission = ownerPermission(kind);
  if (!levelAllows(await accessLevelInTransaction(ctx, tx, row), permission)) throw forbidden({ permission });
  if ('parentId' in row && row.parentId) throw conflict('The owner of a draft or snapshot cannot change');
  checkOwnAccess(row);
  checkNewOwner(ctx, ownerId);
  row.ownerId = ownerId;
}

/** Throws FORBIDDEN if the new owner is a team in which the caller has less than the role `memberPlus`. */
export function checkNewOwner(ctx: Context, ownerId: string): void {
  if (ownerId.startsWith('team:') && ownershipLevel(ctx.viewer, ownerId) < LEVEL.edit)
    throw refused('A resource of a team requires the role memberPlus in the team');
}

/**
 * Returns the canonical id of a folder and locks it against deletion until the transaction ends. Returns null for no
 * folder. Throws NOT_FOUND if the tenant does not have it.
 */
async function resolveFolder(
  tx: Transaction,
  tenantId: string,
  folderId: string | null | undefined,
): Promise<string | null> {
  if (folderId === undefined || folderId === null) return null;
  await resolveIds(tx, tenantId, 'folder', [folderId]);
  return folderId.toLowerCase();
}
