import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/input-checks.ts';
import { credentialsChanged } from './credential-invalidation.ts';
import { countAttempt } from './login.ts';
import { endLinks } from './password-reset.ts';
import { checkPassword, hashPassword, verifyPassword } from './password.ts';

/** Changes the viewer's own password and ends their other sessions. Guesses at the current one count as attempts to log in. */
export async function changePassword(ctx: Context, currentPassword: string, password: string): Promise<void> {
  const { viewer, platform, request } = ctx;
  const owner = [viewer.tenantId, viewer.userId];
  await countAttempt(platform, `password/${viewer.userId}/${request.address}`);
  const [row] = await ctx.query<{ password_hash: string | null }>({
    text: `select password_hash from dws.app_user where tenant_id = $1 and id = $2`,
    values: owner,
  });
  recordAuditTarget(request, 'user', viewer.username, viewer.userId);
  if (!(await verifyPassword(row?.password_hash, currentPassword))) {
    // A guess at a password belongs into the log, though its answer is an ordinary 400.
    if (request.mutation) request.mutation.refused = true;
    throw invalid('currentPassword', 'is wrong');
  }
  checkPassword(password, viewer.username);

  const passwordHash = await hashPassword(password);
  await ctx.transaction(async (tx) => {
    await tx.query({
      text: `update dws.app_user set password_hash = $3, password_set_at = now(), password_expires_at = null, version = version + 1, updated_at = now() where tenant_id = $1 and id = $2`,
      values: [...owner, passwordHash],
    });
    await tx.query({
      text: `delete from dws.session where tenant_id = $1 and user_id = $2 and id <> $3`,
      values: [...owner, viewer.credentialId],
    });
    await endLinks(tx.query, viewer.tenantId, viewer.userId);
  });
  credentialsChanged(ctx, [viewer.userId]);
}
