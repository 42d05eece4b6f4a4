import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { newRow } from '../../core/new-row.ts';
import { levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevelInTransaction } from './access-level.ts';
import { checkNoDraft } from './draft-row.ts';
import { checkVersion, loadResource } from './load-resource.ts';
import { resolveIds } from './resolve-ids.ts';

type TaggedKind = Pick<OwnedKind<OwnedRow>, 'kind'>;

const tagPermissionOf = ({ kind }: TaggedKind) => `${kind}:assignTags` as ResourcePermission;

/** Assigns a tag to a resource, if it is not assigned yet. Returns the id of the assignment and whether it is new. */
export function assign<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  tagId: string,
): Promise<{ id: string; created: boolean }> {
  return ctx.transaction(async (tx) => {
    const resource = await loadResource(ctx, tx, kind, id, tagPermissionOf(kind));
    checkNoDraft(kind, resource, 'tags');
    const [knownId] = await resolveIds(tx, ctx.viewer.tenantId, 'tag', [tagId]);
    const present = await tx.findOne(TagAssignment, { resourceId: resource.id, tagId: knownId });
    checkVersion(ctx, 'tag assignment', present?.version ?? 0);
    return { id: present?.id ?? createAssignment(tx, kind, resource, knownId!).id, created: !present };
  });
}

/** Removes a tag from a resource. Throws NOT_FOUND if it is not assigned. */
export async function unassign<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  tagId: string,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const resource = await loadResource(ctx, tx, kind, id, tagPermissionOf(kind));
    checkNoDraft(kind, resource, 'tags');
    const present = isUuid(tagId) ? await tx.findOne(TagAssignment, { resourceId: resource.id, tagId }) : null;
    if (!present) throw notFound({ what: 'tag assignment', id: tagId });
    checkVersion(ctx, 'tag assignment', present.version);
    removeAssignment(tx, resource, present);
  });
}

/** Assigns tags to a new resource. */
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

/** Replaces the tags of a resource. Throws FORBIDDEN without the permission `assignTags`, unless nothing changes. */
export async function replaceTags<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  resource: T,
  tagIds: readonly string[],
): Promise<void> {
  const wanted = await resolveIds(tx, ctx.viewer.tenantId, 'tag', tagIds);
  const present = await tx.find(TagAssignment, { resourceId: resource.id });
  const removed = present.filter(({ tagId }) => !wanted.includes(tagId));
  const added = wanted.filter((tagId) => !present.some((assignment) => assignment.tagId === tagId));
  if (removed.length + added.length === 0) return;
  checkNoDraft(kind, resource, 'tags');
  const permission = tagPermissionOf(kind);
  if (!levelAllows(await accessLevelInTransaction(ctx, tx, resource), permission)) throw forbidden({ permission });
  for (const assignment of removed) removeAssignment(tx, resource, assignment);
  for (const tagId of added) createAssignment(tx, kind, resource, tagId);
}

function createAssignment(tx: Transaction, { kind }: TaggedKind, resource: OwnedRow, tagId: string): TagAssignment {
  const { tenantId, id: resourceId } = resource;
  bumpVersion(resource);
  return tx.insert(newRow(TagAssignment, { tenantId, kind, resourceId, tagId }));
}

function removeAssignment(tx: Transaction, resource: OwnedRow, assignment: TagAssignment): void {
  tx.remove(assignment);
  bumpVersion(resource);
}

/** Changes the resource, so that it gets a new version. Tags are part of its representation. */
function bumpVersion(resource: OwnedRow): void {
  resource.updatedAt = new Date();
}
