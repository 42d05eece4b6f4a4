import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound, preconditionFailed } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { LEVEL, levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { accessLevelInTransaction } from './access-level.ts';

/**
 * The versions that `If-Match` allows; undefined allows any version. Pass `{ ifMatch: ctx.ifMatch }` for the resource
 * that the request names (docs/contract/apis.md#conditional-requests).
 */
export type ExpectedVersion = Pick<Context, 'ifMatch'>;

/**
 * Loads a row for a change and locks it until the transaction ends. Throws NOT_FOUND if the viewer may not read it,
 * FORBIDDEN with the permission if they lack it, and 412 if `If-Match` does not allow the version of the row.
 */
export const loadResource = <T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  id: string,
  permission: ResourcePermission,
  expected: ExpectedVersion = {},
): Promise<T> => load(ctx, tx, kind, id, permission, { expected, lock: 'update' });

/**
 * Loads a row that another resource uses, and locks it against deletion. Concurrent users do not wait for each other.
 * Throws like `loadResource`, but `If-Match` does not apply to it.
 */
export const loadUsedResource = <T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  id: string,
  permission: ResourcePermission,
): Promise<T> => load(ctx, tx, kind, id, permission, { expected: {}, lock: 'key share' });

async function load<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  id: string,
  permission: ResourcePermission,
  { expected, lock }: { expected: ExpectedVersion; lock: 'update' | 'key share' },
): Promise<T> {
  const row = await tx.findOne<OwnedRow>(kind.entity, resourceKey(ctx.viewer, id), { lock });
  if (row) recordAuditTarget(ctx.request, kind.kind, id, row.id);
  const level = row ? await accessLevelInTransaction(ctx, tx, row) : LEVEL.none;
  if (!row || level === LEVEL.none) throw notFound({ what: kind.what, id });
  if (!levelAllows(level, permission)) throw forbidden({ permission });
  checkVersion(expected, kind.what, row.version);
  return row as T;
}

/**
 * Returns the id of the row with an id, slug or natural id; undefined without one. Does not check access and locks
 * nothing.
 */
export async function findResourceId(
  ctx: Pick<Context, 'viewer'>,
  tx: Pick<Transaction, 'query'>,
  table: string,
  key: string,
): Promise<string | undefined> {
  const { id, slug } = resourceKey(ctx.viewer, key);
  const [found] = await tx.query<{ id: string }>({
    text: `select id from dws.${table} where tenant_id = $1 and ${id ? 'id' : 'slug'} = $2`,
    values: [ctx.viewer.tenantId, id ?? slug],
  });
  return found?.id;
}

/** Throws 412 if the caller expects another version. `what` is the noun of the error message. */
export function checkVersion({ ifMatch }: ExpectedVersion, what: string, version: number): void {
  if (ifMatch && !ifMatch.includes(version)) throw preconditionFailed({ what });
}

/** Returns the column that identifies a resource by its id, slug or natural id (docs/contract/apis.md#identifiers). */
export function resourceKey(
  viewer: Pick<Viewer, 'tenant'>,
  key: string,
): { id: string; slug?: never } | { id?: never; slug: string } {
  if (isUuid(key)) return { id: key.toLowerCase() };
  return { slug: key.startsWith(`${viewer.tenant}:`) ? key.slice(viewer.tenant.length + 1) : key };
}
