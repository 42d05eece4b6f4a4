import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevelInTransaction } from './access-level.ts';
import { checkVersion, load } from './load-resource.ts';
import { resolveIds } from './resolve-ids.ts';

const tagPermissionOf = ({ kind }: Pick<OwnedKind<OwnedRow>, 'kind'>) => `${kind}:assignTags` as ResourcePermission;

/** Puts a tag on a resource, where it is not on it yet. Answers the assignment's id and whether it was made. */
export function assign<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  tagId: string,
): Promise<{ id: string; created: boolean }> {
  return ctx.transaction(async (tx) => {
    const resource = await load(ctx, tx, kind, id, tagPermissionOf(kind));
    const [known] = await resolveIds(tx, ctx.viewer.tenantId, 'tag', [tagId]);
    const present = await tx.em.findOne(TagAssignment, { resourceId: resource.id, tagId: known });
    checkVersion(ctx, 'tag assignment', present?.version ?? 0);
    return { id: present?.id ?? createAssignment(tx, kind, resource, known!).id, created: !present };
  });
}

/** Takes a tag off a resource; 404 when it is not on it. */
export async function unassign<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  tagId: string,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const resource = await load(ctx, tx, kind, id, tagPermissionOf(kind));
    const present = isUuid(tagId) ? await tx.em.findOne(TagAssignment, { resourceId: resource.id, tagId }) : null;
    if (!present) throw notFound({ what: 'tag assignment', id: tagId });
    checkVersion(ctx, 'tag assignment', present.version);
    removeAssignment(tx, resource, present);
  });
}

/** The tags that a new resource begins with. */
export async function addTags<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  resource: T,
  tagIds: readonly string[],
): Promise<void> {
  for (const tagId of await resolveIds(tx, ctx.viewer.tenantId, 'tag', tagIds))
    createAssignment(tx, kind, resource, tagId);
}

/** Makes a resource's tags exactly these; changing them takes a permission of its own. */
export async function replaceTags<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  resource: T,
  tagIds: readonly string[],
): Promise<void> {
  const wanted = await resolveIds(tx, ctx.viewer.tenantId, 'tag', tagIds);
  const present = await tx.em.find(TagAssignment, { resourceId: resource.id });
  const gone = present.filter(({ tagId }) => !wanted.includes(tagId));
  const fresh = wanted.filter((tagId) => !present.some((assignment) => assignment.tagId === tagId));
  if (gone.length + fresh.length === 0) return;
  const permission = tagPermissionOf(kind);
  if (!levelAllows(await accessLevelInTransaction(ctx, tx, resource), permission)) throw forbidden({ permission });
  for (const assignment of gone) removeAssignment(tx, resource, assignment);
  for (const tagId of fresh) createAssignment(tx, kind, resource, tagId);
}

function createAssignment(
  tx: Transaction,
  { kind }: Pick<OwnedKind<OwnedRow>, 'kind'>,
  resource: OwnedRow,
  tagId: string,
): TagAssignment {
  const { tenantId, id: resourceId } = resource;
  const made = tx.em.create(TagAssignment, { tenantId, kind, resourceId, tagId }, { partial: true });
  tx.em.persist(made);
  touch(resource);
  return made;
}

function removeAssignment(tx: Transaction, resource: OwnedRow, assignment: TagAssignment): void {
  tx.em.remove(assignment);
  touch(resource);
}

/** A resource's record says its tags: who has read other ones has read another version. */
function touch(resource: OwnedRow): void {
  resource.updatedAt = new Date();
}
