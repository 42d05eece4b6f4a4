import { ApiToken, type NewApiToken, type TokenScope } from '../../../entities/api-token.ts';
import type { CreateTokenInput } from '../../../entities/token-input.ts';
import type { Context } from '../../core/context.ts';
import { notFound, refused } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { digest, generateSecret } from '../../core/secret.ts';
import { invalidateCredentials } from './credential-invalidation.ts';
import { lockCredential } from './credential-lock.ts';

/** Creates an API token of the viewer. Returns it with its secret; only the hash of the secret is stored. */
export async function create(ctx: Context, input: CreateTokenInput): Promise<NewApiToken> {
  const name = checkText(input.name, 'name');
  if (input.expiresAt && input.expiresAt.getTime() <= Date.now()) throw invalid('expiresAt', 'must be in the future');
  const scopes = [...new Set<TokenScope>(input.scopes ?? ['read', 'write'])];
  if (!scopes.length) throw invalid('scopes', 'must contain read, write or both');
  if (scopes.includes('documents') && !ctx.viewer.superuser)
    throw refused('Only superusers give tokens the scope documents');

  const secret = `dws_${generateSecret()}`;
  return ctx.transaction(async (tx) => {
    await lockCredential(ctx, tx);
    const token = newRow(ApiToken, {
      tenantId: ctx.viewer.tenantId,
      userId: ctx.viewer.userId,
      name,
      tokenHash: digest(secret),
      prefix: secret.slice(0, 8),
      scopes,
      client: input.client ?? null,
      expiresAt: input.expiresAt ?? null,
    });
    return { ...tx.insert(token), token: secret } as NewApiToken;
  });
}

/** Deletes a token of the viewer, which is invalid immediately. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await deleteCredential(ctx, 'api_token', 'token', id);
}

/** Ends a session of the viewer immediately. */
export async function removeSession(ctx: Context, id: string): Promise<void> {
  await deleteCredential(ctx, 'session', 'session', id);
}

async function deleteCredential(ctx: Context, table: 'api_token' | 'session', what: string, id: string): Promise<void> {
  const { tenantId, userId } = ctx.viewer;
  await ctx.transaction(async (tx) => {
    const deleted = isUuid(id)
      ? await tx.query({
          text: `delete from dws.${table} where id = $1 and user_id = $2 and tenant_id = $3 returning id`,
          values: [id, userId, tenantId],
        })
      : [];
    if (!deleted.length) throw notFound({ what, id });
  });
  invalidateCredentials(ctx, [userId]);
}
