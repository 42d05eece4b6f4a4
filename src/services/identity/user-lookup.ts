import { User } from '../../../entities/user.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion, type ExpectedVersion } from '../resource/load-resource.ts';

/** A user by id or username, locked until the transaction ends. */
export async function loadUser(
  ctx: Context,
  tx: Transaction,
  key: string,
  expected: ExpectedVersion = {},
): Promise<User> {
  const where = isUuid(key) ? 'id = $2' : 'lower(username) = lower($2)';
  const [found] = await tx.query<{ id: string }>({
    text: `select id from dws.app_user where tenant_id = $1 and ${where} for update`,
    values: [ctx.viewer.tenantId, key],
  });
  const user = found && (await tx.em.findOne(User, { id: found.id }));
  if (!user) throw notFound({ what: 'user', id: key });
  recordAuditTarget(ctx.request, 'user', key, user.id);
  checkVersion(expected, 'user', user.version);
  return user;
}
