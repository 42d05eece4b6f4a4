import type { TenantRow } from '../../../entities/tenant-row.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { GlobalPermission, ResourcePermission } from '../../core/permissions.ts';
import type { RowClass, Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { checkVersion, type ExpectedVersion } from './load-resource.ts';

interface UnownedRow extends TenantRow {
  creatorId?: string | null;
}

/**
 * Declares a kind without owners. All users of the tenant may read its rows; their creators and superusers change them.
 */
export interface UnownedKind<T extends UnownedRow> {
  entity: RowClass<T>;
  /** Noun in error messages. */
  what: string;
  /** Global permission that allows changes of all rows. */
  permission?: GlobalPermission;
}

/** Returns whether the viewer may change or delete a row of the kind. */
export const canChange = (
  { permission }: Pick<UnownedKind<UnownedRow>, 'permission'>,
  viewer: Viewer,
  creatorId: string | null | undefined,
): boolean =>
  viewer.superuser || creatorId === viewer.userId || (permission !== undefined && viewer.permissions.has(permission));

/**
 * Loads a row for a change and locks it until the transaction ends. Throws NOT_FOUND if it does not exist, FORBIDDEN if
 * the viewer may not change it, and 412 if `If-Match` does not allow its version. `isAllowed` means that the viewer may
 * change it, even without having created it.
 */
export async function loadUnowned<T extends UnownedRow>(
  ctx: Context,
  tx: Transaction,
  kind: UnownedKind<T>,
  id: string,
  permission: ResourcePermission,
  { isAllowed = false, ...expected }: ExpectedVersion & { isAllowed?: boolean } = {},
): Promise<T> {
  const { entity, what } = kind;
  const row = isUuid(id) ? await tx.findOne<UnownedRow>(entity, { id: id.toLowerCase() }, { lock: 'update' }) : null;
  if (!row) throw notFound({ what, id });
  recordAuditTarget(ctx.request, what, id, row.id);
  if (!isAllowed && !canChange(kind, ctx.viewer, row.creatorId)) throw forbidden({ permission });
  checkVersion(expected, what, row.version);
  return row as T;
}
