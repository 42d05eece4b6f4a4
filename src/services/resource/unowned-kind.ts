import type { EntityClass } from '@mikro-orm/core';
import type { TenantRow } from '../../../entities/tenant-row.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { GlobalPermission, ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { checkVersion, type ExpectedVersion } from './load-resource.ts';

export interface UnownedRow extends TenantRow {
  creatorId?: string | null;
}

/** Declares a kind that nobody owns: everybody in the tenant reads it, whoever made it and superusers change it. */
export interface UnownedKind<T extends UnownedRow> {
  entity: EntityClass<T>;
  /** What errors call it. */
  what: string;
  table: string;
  /** Who has this may change all of them, whoever made them. */
  permission?: GlobalPermission;
}

/** Whether the viewer may change or delete a row of the kind. */
export const canChange = (
  { permission }: Pick<UnownedKind<UnownedRow>, 'permission'>,
  viewer: Viewer,
  creatorId: string | null | undefined,
): boolean =>
  viewer.superuser || creatorId === viewer.userId || (permission !== undefined && viewer.permissions.has(permission));

/** Loads a row for a change, locked until the transaction ends. 404, 403 and 412 as for every resource. */
export async function loadUnowned<T extends UnownedRow>(
  ctx: Context,
  tx: Transaction,
  kind: UnownedKind<T>,
  id: string,
  permission: ResourcePermission,
  expected: ExpectedVersion = {},
): Promise<T> {
  const { entity, what, table } = kind;
  const [found] = isUuid(id)
    ? await tx.query<{ id: string }>({
        text: `select id from dws.${table} where tenant_id = $1 and id = $2 for update`,
        values: [ctx.viewer.tenantId, id],
      })
    : [];
  const row = found && (await tx.em.findOne<UnownedRow>(entity, { id: found.id }));
  if (!row) throw notFound({ what, id });
  recordAuditTarget(ctx.request, what, id, row.id);
  if (!canChange(kind, ctx.viewer, row.creatorId)) throw forbidden({ permission });
  checkVersion(expected, what, row.version);
  return row as T;
}
