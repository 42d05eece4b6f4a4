import { randomBytes } from 'node:crypto';
import { APP } from '../../../entities/owned-kinds.ts';
import type { AppHookToken } from '../../../entities/webhook-statistic.ts';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Platform, SecretBox, Transaction } from '../../core/platform.ts';
import { digest } from '../../core/secret.ts';
import { loadResource } from '../resource/load-resource.ts';

/** Longest time that the former token of an app stays valid, in seconds. */
const MAX_KEEP_SECONDS = 604_800;
/** Number of apps that get a token in one pass. */
const MAX_FILLED = 1000;

interface StoredToken extends Record<string, unknown> {
  sealed: string;
  formerUntil: string | null;
}

interface AppKey {
  id: string;
  tenantId: string;
}

/** Generates a hook token, of 128 random bits, as it is stored. */
function newToken(secrets: SecretBox): { sealed: string; digest: string } {
  const token = randomBytes(16).toString('base64url');
  return { sealed: secrets.seal(token), digest: digest(token) };
}

/** Returns the statement that sets the hook token of a new app. */
export function insertHookToken(secrets: SecretBox, tx: Transaction, { id, tenantId }: AppKey): void {
  const token = newToken(secrets);
  tx.execute({
    text: `insert into dws.app_hook_token (tenant_id, app_id, sealed, digest) values ($1, $2, $3, $4)`,
    values: [tenantId, id, token.sealed, token.digest],
  });
}

/** Sets hook tokens of apps that have none, because they were created before hook tokens existed. */
export async function fillHookTokens(query: Query, secrets: SecretBox): Promise<void> {
  const apps = await query<AppKey & Record<string, unknown>>({
    text: `
      select a.id, a.tenant_id as "tenantId"
      from dws.app a
      where not exists (select from dws.app_hook_token k where k.tenant_id = a.tenant_id and k.app_id = a.id)
      limit ${MAX_FILLED}
      for key share of a skip locked`,
  });
  if (apps.length === 0) return;
  const tokens = apps.map(() => newToken(secrets));
  await query({
    text: `
      insert into dws.app_hook_token (tenant_id, app_id, sealed, digest)
      select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
      on conflict do nothing`,
    values: [
      apps.map(({ tenantId }) => tenantId),
      apps.map(({ id }) => id),
      tokens.map(({ sealed }) => sealed),
      tokens.map((token) => token.digest),
    ],
  });
}

/**
 * Returns the hook token of an app that the caller may write. Null for callers who could do more with it than they may
 * do themselves: tokens without the scope `write`, and handlers of apps. Null also for an app that has no token yet.
 */
export async function loadHookToken(
  { query, viewer, platform }: Context,
  { id }: Pick<AppKey, 'id'>,
): Promise<AppHookToken | null> {
  if (!viewer.scopes.has('write') || viewer.authMethod === 'app') return null;
  const [row] = await query<StoredToken>({
    text: `
      select sealed, case when former_until > now() then former_until end as "formerUntil"
      from dws.app_hook_token
      where tenant_id = $1 and app_id = $2`,
    values: [viewer.tenantId, id],
  });
  return row ? toHookToken(platform, row) : null;
}

const toHookToken = ({ secrets, publicUrl }: Platform, { sealed, formerUntil }: StoredToken): AppHookToken => {
  const token = secrets.open(sealed, 'the hook token of the app');
  return {
    token,
    url: `${publicUrl}/api/hooks/${token}`,
    formerUntil: formerUntil === null ? null : new Date(formerUntil),
  };
};

/** Implements `rotateHookToken`. Throws BAD_USER_INPUT for a time out of bounds. */
export async function rotateHookToken(ctx: Context, id: string, keepOldSeconds: number): Promise<AppHookToken> {
  if (!Number.isInteger(keepOldSeconds) || keepOldSeconds < 0 || keepOldSeconds > MAX_KEEP_SECONDS)
    throw invalid('keepOldSeconds', `must be an integer from 0 to ${MAX_KEEP_SECONDS}`);
  const { platform } = ctx;
  const token = newToken(platform.secrets);
  return ctx.transaction(async (tx) => {
    const app = await loadResource(ctx, tx, APP, id, 'app:write');
    const [row] = await tx.query<StoredToken>({
      text: `
        insert into dws.app_hook_token as k (tenant_id, app_id, sealed, digest) values ($1, $2, $3, $4)
        on conflict (app_id) do update set
          sealed = excluded.sealed, digest = excluded.digest,
          former_digest = case when $5 > 0 then k.digest end,
          former_until = case when $5 > 0 then now() + $5 * interval '1 second' end
        returning sealed, former_until as "formerUntil"`,
      values: [app.tenantId, app.id, token.sealed, token.digest, keepOldSeconds],
    });
    return toHookToken(platform, row!);
  });
}
