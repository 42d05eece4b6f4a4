import { User } from '../../../entities/user.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { lockKey } from '../../core/locks.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion, type ExpectedVersion } from '../resource/load-resource.ts';

/**
 * Loads a user by id or username and locks the row until the transaction ends. Throws NOT_FOUND, and
 * PRECONDITION_FAILED for a version other than the expected ones.
 */
export async function loadUser(
  ctx: Context,
  tx: Transaction,
  key: string,
  expected: ExpectedVersion = {},
): Promise<User> {
  const where = isUuid(key) ? { id: key.toLowerCase() } : { sql: 'lower(r.username) = lower(?)', params: [key] };
  const user = await tx.findOne(User, where, { lock: 'update' });
  if (!user) throw notFound({ what: 'user', id: key });
  recordAuditTarget(ctx.request, 'user', key, user.id);
  checkVersion(expected, 'user', user.version);
  return user;
}

/** SQL condition for the user with the key `$2`, `$3` (`userKeyValues`) in the tenant `$1`. `u` is the user. */
export const IS_USER = 'u.tenant_id = $1 and (u.id = $2 or lower(u.username) = lower($3))';

/** Returns a user's key as id and as username. One of them is null. */
export const userKeyValues = (key: string): [string | null, string | null] =>
  isUuid(key) ? [key.toLowerCase(), null] : [null, key];

/**
 * Returns the id of the user with a username, undefined if it is free. A lock serializes concurrent claims until the
 * transaction ends, so that none fails with a violation of the unique index.
 */
export async function findUsernameOwner(
  tx: Transaction,
  tenantId: string,
  username: string,
): Promise<string | undefined> {
  lockKey(tx, `username:${tenantId}`);
  const [owner] = await tx.query<{ id: string }>({
    text: `select id from dws.app_user where tenant_id = $1 and lower(username) = lower($2)`,
    values: [tenantId, username],
  });
  return owner?.id;
}
