import { User } from '../../../entities/user.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
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
