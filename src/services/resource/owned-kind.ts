import type { EntityClass } from '@mikro-orm/core';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { ActivityEventName } from '../../core/activity.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden, refused, slugTaken } from '../../core/errors.ts';
import { assignPresent, checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { LEVEL, levelAllows, type ResourceKind, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { slugOf } from '../../core/slug.ts';
import {
  checkSlug,
  freeSlug,
  resolveIds,
  accessLevelInTransaction,
  ownershipLevel,
  load,
  principalOf,
} from './access.ts';
import { retag, tagNew } from './tag-assignment.ts';

/** Declares a kind that people own: everything that all kinds have in common works from this. */
export interface KindOf<T extends OwnedRow> {
  entity: EntityClass<T>;
  /** The word before the colon of its permissions. */
  kind: ResourceKind;
  /** What errors call it. */
  what: string;
  table: string;
  /** What a change of a field is called in the activity of a resource, where that is not `updated`. */
  events?: Readonly<Record<string, ActivityEventName>>;
  /** Fields that follow others, of which the activity says nothing. */
  silent?: readonly string[];
  /** Its rows may be parts of another, which decides who sees them: the relation `parent`. */
  hasParents?: boolean;
}

/** What the read path must bring of a row for the viewer's level on it. */
export const accessLevelColumns = ({ hasParents }: Pick<KindOf<OwnedRow>, 'hasParents'>): string[] => [
  'id',
  'ownerId',
  ...(hasParents ? ['parent.id', 'parent.ownerId'] : []),
];

/** The input that all kinds share. */
export interface OwnedInput {
  name?: string | null;
  slug?: string | null;
  description?: string | null;
  ownerId?: string | null;
  folderId?: string | null;
  tags?: string[] | null;
}

/** A new row of the kind with its common fields checked and filled; `rest` are the fields of its own. */
export async function createOwned<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: KindOf<T>,
  input: OwnedInput,
  rest: Partial<T>,
): Promise<T> {
  const { tenantId, userId } = ctx.viewer;
  const name = checkText(input.name, 'name');
  const ownerId = input.ownerId ? await principalOf(tx, tenantId, input.ownerId) : `user:${userId}`;
  checkNewOwner(ctx, ownerId);
  const slug = input.slug
    ? await takeSlug(tx, tenantId, kind.table, input.slug)
    : await freeSlug(tx, tenantId, kind.table, slugOf(name));
  const folderId = await folderOf(tx, tenantId, input.folderId);

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
  await tagNew(ctx, tx, kind, row, input.tags ?? []);
  return row;
}

/** Changes the common fields that the input names; what it does not name stays. */
export async function updateOwned<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: KindOf<T>,
  row: T,
  input: OwnedInput,
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
  if (slug !== undefined && slug !== row.slug) row.slug = await takeSlug(tx, ctx.viewer.tenantId, kind.table, slug);
  if (folderId !== undefined && folderId !== (row.folderId ?? null))
    row.folderId = await folderOf(tx, ctx.viewer.tenantId, folderId);
  if (tags !== undefined) await retag(ctx, tx, kind, row, tags ?? []);
  if (ownerId !== undefined) await changeOwner(ctx, tx, kind, row, ownerId);
  return row;
}

/** Gives a resource to another principal. Answers its id. */
export async function setOwner<T extends OwnedRow>(
  ctx: Context,
  kind: KindOf<T>,
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
  kind: KindOf<T>,
  row: T,
  given: string,
): Promise<void> {
  const ownerId = await principalOf(tx, ctx.viewer.tenantId, given);
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

async function takeSlug(tx: Transaction, tenantId: string, table: string, slug: string): Promise<string> {
  if ((await freeSlug(tx, tenantId, table, checkSlug(slug))) !== slug) throw slugTaken({ slug });
  return slug;
}

/** The folder that an input names, which stays until the transaction ends; null for none, 404 when the tenant has no such. */
async function folderOf(
  tx: Transaction,
  tenantId: string,
  folderId: string | null | undefined,
): Promise<string | null> {
  if (folderId === undefined || folderId === null) return null;
  await resolveIds(tx, tenantId, 'folder', [folderId]);
  return folderId.toLowerCase();
}

export { load };
