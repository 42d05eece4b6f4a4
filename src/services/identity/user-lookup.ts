import { User } from '../../../entities/user.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion, type ExpectedVersion } from '../resource/access.ts';

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
  const where = isUuid(key) ? 'id = $2' : 'lower(username) = lower($2)';
  const [row] = await tx.query<{ id: string }>({
    text: `select id from dws.app_user where tenant_id = $1 and ${where} for update`,
    values: [ctx.viewer.tenantId, key],
  });
  const user = row && (await tx.em.findOne(User, { id: row.id }));
  if (!user) throw notFound({ what: 'user', id: key });
  recordAuditTarget(ctx.request, 'user', key, user.id);
  checkVersion(expected, 'user', user.version);
  return user;
}
