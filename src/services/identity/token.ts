import { wrap } from '@mikro-orm/core';
import { ApiToken } from '../../../entities/api-token.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { credentialsChanged } from './credential-invalidation.ts';
import { digest, randomSecret } from './credential.ts';

export interface TokenInput {
  name: string;
  expiresAt?: Date | null;
  scopes?: ('read' | 'write')[] | null;
}

/** Makes a token of the viewer; the secret `token` is told this once and never again. */
export async function create(ctx: Context, input: TokenInput): Promise<ApiToken & { token: string }> {
  const name = checkText(input.name, 'name');
  if (input.expiresAt && input.expiresAt.getTime() <= Date.now()) throw invalid('expiresAt', 'lies in the past');
  const scopes = [...new Set(input.scopes ?? ['read', 'write'])];
  if (!scopes.length) throw invalid('scopes', 'must name read, write or both');

  const secret = `dws_${randomSecret()}`;
  return ctx.transaction(async ({ em }) => {
    const token = em.create(
      ApiToken,
      {
        tenantId: ctx.viewer.tenantId,
        userId: ctx.viewer.userId,
        name,
        tokenHash: digest(secret),
        prefix: secret.slice(0, 8),
        scopes,
        expiresAt: input.expiresAt ?? null,
      },
      { partial: true },
    );
    await em.persist(token).flush();
    return { ...wrap(token).toPOJO(), token: secret } as ApiToken & { token: string };
  });
}

/** Ends a token of the viewer at once. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await end(ctx, 'api_token', 'token', id);
}

/** Ends a session of the viewer at once. */
export async function removeSession(ctx: Context, id: string): Promise<void> {
  await end(ctx, 'session', 'session', id);
}

async function end(ctx: Context, table: 'api_token' | 'session', what: string, id: string): Promise<void> {
  const { tenantId, userId } = ctx.viewer;
  await ctx.transaction(async (tx) => {
    const gone = isUuid(id)
      ? await tx.query({
          text: `delete from dws.${table} where id = $1 and user_id = $2 and tenant_id = $3 returning id`,
          values: [id, userId, tenantId],
        })
      : [];
    if (!gone.length) throw notFound({ what, id });
  });
  credentialsChanged(ctx, [userId]);
}
