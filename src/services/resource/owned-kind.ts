import type { UpdateOwnedInput } from '../../../entities/owned-input.ts';
import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden, refused, slugTaken } from '../../core/errors.ts';
import { assignPresent, checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { LEVEL, levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { slugOf } from '../../core/slug.ts';
import { accessLevelInTransaction, ownershipLevel } from './access-level.ts';
import { load } from './load-resource.ts';
import { resolveIds, resolvePrincipal } from './resolve-ids.ts';
import { checkSlug, reserveSlug } from './resource-slug.ts';
import { replaceTags, addTags } from './tag-assignment.ts';

/** What the read path must bring of a row for the viewer's level on it. */
export const accessLevelColumns = ({ hasParents }: Pick<OwnedKind<OwnedRow>, 'hasParents'>): string[] => [
  'id',
  'ownerId',
  ...(hasParents ? ['parent.id', 'parent.ownerId'] : []),
];

export type OwnedInput = UpdateOwnedInput;

/** A new row of the kind with its common fields checked and filled; `rest` are the fields of its own. */
export async function createOwned<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  input: UpdateOwnedInput,
  rest: Partial<T>,
): Promise<T> {
  const { tenantId, userId } = ctx.viewer;
  const name = checkText(input.name, 'name');
  const ownerId = input.ownerId ? await resolvePrincipal(tx, tenantId, input.ownerId) : `user:${userId}`;
  checkNewOwner(ctx, ownerId);
  const slug = input.slug
    ? await reserveExactSlug(tx, tenantId, kind.table, input.slug)
    : await reserveSlug(tx, tenantId, kind.table, slugOf(name));
  const folderId = await resolveFolder(tx, tenantId, input.folderId);

  const common: Partial<OwnedRow> = {
    tenantId,
    name,
    slug,
    description: checkOptionalText(input.description ?? null, 'description'),
    ownerId,
    folderId,
  };
  const row = tx.em.create(kind.entity, { ...rest, ...common } as never, { partial: true }) as T;
  tx.em.persist(row);
  await addTags(ctx, tx, kind, row, input.tags ?? []);
  return row;
}

/** Changes the common fields that the input names; what it does not name stays. */
export async function updateOwned<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  row: T,
  input: UpdateOwnedInput,
): Promise<T> {
  const { slug, ownerId, folderId, name, description, tags } = input;
  assignPresent<OwnedRow>(
    row,
    {
      name: name === undefined ? undefined : checkText(name, 'name'),
      description: description === undefined ? undefined : checkOptionalText(description, 'description'),
    },
    ['description'],
  );
  if (slug === null) throw invalid('slug', 'must not be null');
  if (ownerId === null) throw invalid('ownerId', 'must not be null');
  if (slug !== undefined && slug !== row.slug)
    row.slug = await reserveExactSlug(tx, ctx.viewer.tenantId, kind.table, slug);
  if (folderId !== undefined && folderId !== (row.folderId ?? null))
    row.folderId = await resolveFolder(tx, ctx.viewer.tenantId, folderId);
  if (tags !== undefined) await replaceTags(ctx, tx, kind, row, tags ?? []);
  if (ownerId !== undefined) await changeOwner(ctx, tx, kind, row, ownerId);
  return row;
}

/** Gives a resource to another principal. Answers its id. */
export async function setOwner<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  ownerId: string,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const row = await load(ctx, tx, kind, id, `${kind.kind}:changeOwner` as ResourcePermission, {
      ifMatch: ctx.ifMatch,
    });
    await changeOwner(ctx, tx, kind, row, ownerId);
    return row.id;
  });
}

/** Gives a row to another principal: needs `changeOwner` on it, and `memberPlus` in a team that gets it (contract 4). */
export async function changeOwner<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  row: T,
  given: string,
): Promise<void> {
  const ownerId = await resolvePrincipal(tx, ctx.viewer.tenantId, given);
  if (ownerId === row.ownerId) return;
  const permission = `${kind.kind}:changeOwner` as ResourcePermission;
  if (!levelAllows(await accessLevelInTransaction(ctx, tx, row), permission)) throw forbidden({ permission });
  if ('parentId' in row && row.parentId) throw conflict('A draft or snapshot stays with who made it');
  checkNewOwner(ctx, ownerId);
  row.ownerId = ownerId;
}

/** Handing something to a team takes `memberPlus` there (contract 4). */
export function checkNewOwner(ctx: Context, ownerId: string): void {
  if (ownerId.startsWith('team:') && ownershipLevel(ctx.viewer, ownerId) < LEVEL.edit)
    throw refused(`Handing something to a team needs the role memberPlus there`);
}

async function reserveExactSlug(tx: Transaction, tenantId: string, table: string, slug: string): Promise<string> {
  if ((await reserveSlug(tx, tenantId, table, checkSlug(slug))) !== slug) throw slugTaken({ slug });
  return slug;
}

/** The folder that an input names, which stays until the transaction ends; null for none, 404 when the tenant has no such. */
async function resolveFolder(
  tx: Transaction,
  tenantId: string,
  folderId: string | null | undefined,
): Promise<string | null> {
  if (folderId === undefined || folderId === null) return null;
  await resolveIds(tx, tenantId, 'folder', [folderId]);
  return folderId.toLowerCase();
}
