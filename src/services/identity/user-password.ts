import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { unauthenticated } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { isActive } from '../resource/active-user.ts';
import { invalidateCredentials } from './credential-invalidation.ts';
import { LOGIN_LOCK_MINUTES } from './credential.ts';
import { countLoginAttempt } from './login.ts';
import { endResetLinks } from './password-reset.ts';
import { checkPassword, hashPassword, verifyPassword } from './password.ts';

const wrongPassword = () => invalid('currentPassword', 'is wrong');

/**
 * Changes the password of the viewer and ends their other sessions. Throws BAD_USER_INPUT if the current password is
 * wrong or the new one is refused, and UNAUTHENTICATED if the session has ended since the request was authenticated.
 * Throws 429 past the limit of attempts, which counts all addresses: a stolen session must not serve to guess the password.
 */
export async function changePassword(ctx: Context, currentPassword: string, password: string): Promise<void> {
  const { viewer, platform, request } = ctx;
  const userKey = [viewer.tenantId, viewer.userId];
  await countLoginAttempt(platform, `password/${viewer.userId}`, { minutes: LOGIN_LOCK_MINUTES });
  const [row] = await ctx.query<{ password_hash: string | null }>({
    text: `select password_hash from dws.app_user where tenant_id = $1 and id = $2`,
    values: userKey,
  });
  recordAuditTarget(request, 'user', viewer.username, viewer.userId);
  if (!(await verifyPassword(row?.password_hash, currentPassword, request.address))) {
    // A wrong password is recorded as a refusal, although its status is 400.
    if (request.mutation) request.mutation.isDenied = true;
    throw wrongPassword();
  }
  checkPassword(password, viewer.username);

  const passwordHash = await hashPassword(password, request.address);
  await ctx.transaction(async (tx) => {
    // The password or the user may have changed since the check. The row of the user is locked before its session, in the
    // order of those who end sessions.
    const updated = await tx.query({
      text: `
        update dws.app_user u set
          password_hash = $3, password_set_at = now(), password_expires_at = null,
          version = version + 1, updated_at = now()
        where tenant_id = $1 and id = $2 and password_hash = $4 and ${isActive('u')}
        returning id`,
      values: [...userKey, passwordHash, row!.password_hash],
    });
    const sessions = await tx.query({
      text: `select id from dws.session where tenant_id = $1 and user_id = $2 and id = $3 for share`,
      values: [...userKey, viewer.credentialId],
    });
    if (sessions.length === 0) throw unauthenticated();
    if (updated.length === 0) throw wrongPassword();
    await tx.query({
      text: `delete from dws.session where tenant_id = $1 and user_id = $2 and id <> $3`,
      values: [...userKey, viewer.credentialId],
    });
    await endResetLinks(tx.query, viewer.tenantId, viewer.userId);
  });
  invalidateCredentials(ctx, [viewer.userId]);
}
