import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/input-checks.ts';
import { invalidateCredentials } from './credential-invalidation.ts';
import { countLoginAttempt } from './login.ts';
import { endResetLinks } from './password-reset.ts';
import { checkPassword, hashPassword, verifyPassword } from './password.ts';

/**
 * Changes the password of the viewer and ends their other sessions. Throws BAD_USER_INPUT if the current password is
 * wrong or the new one is refused. Throws 429 past the limit of logins.
 */
export async function changePassword(ctx: Context, currentPassword: string, password: string): Promise<void> {
  const { viewer, platform, request } = ctx;
  const userKey = [viewer.tenantId, viewer.userId];
  await countLoginAttempt(platform, `password/${viewer.userId}/${request.address}`);
  const [row] = await ctx.query<{ password_hash: string | null }>({
    text: `select password_hash from dws.app_user where tenant_id = $1 and id = $2`,
    values: userKey,
  });
  recordAuditTarget(request, 'user', viewer.username, viewer.userId);
  if (!(await verifyPassword(row?.password_hash, currentPassword, request.address))) {
    // A wrong password is recorded as a refusal, although its status is 400.
    if (request.mutation) request.mutation.isDenied = true;
    throw invalid('currentPassword', 'is wrong');
  }
  checkPassword(password, viewer.username);

  const passwordHash = await hashPassword(password, request.address);
  await ctx.transaction(async (tx) => {
    await tx.query({
      text: `
        update dws.app_user set
          password_hash = $3, password_set_at = now(), password_expires_at = null,
          version = version + 1, updated_at = now()
        where tenant_id = $1 and id = $2`,
      values: [...userKey, passwordHash],
    });
    await tx.query({
      text: `delete from dws.session where tenant_id = $1 and user_id = $2 and id <> $3`,
      values: [...userKey, viewer.credentialId],
    });
    await endResetLinks(tx.query, viewer.tenantId, viewer.userId);
  });
  invalidateCredentials(ctx, [viewer.userId]);
}
