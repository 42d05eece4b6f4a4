import { recordAuditTarget } from '../../core/audit.ts';
import type { PublicContext } from '../../core/context.ts';
import { rateLimited, wrongCredentials } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import type { Platform } from '../../core/platform.ts';
import { isSlug } from '../../core/slug.ts';
import type { Viewer } from '../../core/viewer.ts';
import { actorOf, recordAuditInTransaction } from '../resource/audit.ts';
import { credentialsChanged } from './credential-invalidation.ts';
import { digest, findViewer, randomSecret, SESSION_SLIDING } from './credential.ts';
import { MAX_PASSWORD_LENGTH, verifyPassword } from './password.ts';
import { USERNAME } from './username.ts';

/** Consecutive failures that lock a user, and for how long (contract 2). */
const FAILURES = 10;
export const LOCK_MINUTES = 15;

export interface LoginInput {
  username: string;
  password: string;
  domain?: string | null;
  tenant?: string | null;
}

interface Account extends Record<string, unknown> {
  id: string;
  tenant_id: string;
  username: string;
  password_hash: string | null;
  enabled: boolean;
  locked: boolean;
  known: boolean;
  password_expired: boolean;
}

/**
 * Opens a session and sets its cookie. Wrong credentials, unknown, disabled and locked users get the same 401 in the same time;
 * the limit of attempts answers 429 before the password is looked at.
 */
export async function login(ctx: PublicContext, input: LoginInput): Promise<{ viewer: Viewer; expiresAt: Date }> {
  const { platform, request } = ctx;
  const tenant = input.tenant || 'default';
  await countAttempt(platform, `${tenant}/${input.username.toLowerCase()}/${request.address}`);

  const account = isPossible(tenant, input) ? await findAccount(platform, tenant, input, request.address) : undefined;
  const open =
    account !== undefined && account.enabled && !account.password_expired && (!account.locked || account.known);
  // Counted as a failure before anybody knows, so that attempts made at once cannot outrun the lock; a success takes it back.
  const [fits, inTime] = await Promise.all([
    verifyPassword(open ? account.password_hash : null, input.password),
    open ? noteAttempt(platform, account) : false,
  ]);
  if (!open || !fits || !(inTime || account.known)) {
    refuse(ctx, tenant, input.username);
    throw wrongCredentials();
  }
  const { secret, expiresAt } = await openSession(ctx, account);
  const found = await findViewer(platform.system, { method: 'session', secret });
  if (!found) throw wrongCredentials();
  request.setSession(secret);
  return { viewer: found.viewer, expiresAt };
}

/** The log shows a failed attempt under the name that was given, whether it is anybody's or not: who looks for guesses finds them together. */
function refuse({ request: { mutation } }: PublicContext, tenant: string, username: string): void {
  if (!mutation) return;
  mutation.refused = true;
  // What is no name may be a password that was typed into the wrong field.
  const name = USERNAME.test(username) ? username : '';
  Object.assign(mutation, { key: name, actor: { tenant: { slug: tenant }, userId: null, username: name } });
}

/** What cannot be anybody's name is not looked up: it may be of any length and hold any character. */
const isPossible = (tenant: string, { username, domain, password }: LoginInput): boolean =>
  isSlug(tenant) &&
  USERNAME.test(username) &&
  USERNAME.test(domain || 'local') &&
  password.length <= MAX_PASSWORD_LENGTH;

/** Counts attempts to prove a password exactly, across processes, in the database; 429 past `RATE_LIMIT_LOGIN` a minute. */
export async function countAttempt(platform: Platform, attempt: string): Promise<void> {
  const limit = platform.config.RATE_LIMIT_LOGIN;
  if (limit === 0) return;
  const key = digest(attempt);
  const [{ attempts } = { attempts: 0 }] = await platform.system.transaction(async (query) => {
    await query({ text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`, values: [key] });
    await query({
      text: `delete from dws.login_attempt where key = $1 and at < now() - interval '1 minute'`,
      values: [key],
    });
    const rows = await query<{ attempts: number }>({
      text: `select count(*) as attempts from dws.login_attempt where key = $1`,
      values: [key],
    });
    if (Number(rows[0]!.attempts) < limit)
      await query({ text: `insert into dws.login_attempt (key) values ($1)`, values: [key] });
    return rows;
  });
  if (Number(attempts) >= limit) {
    throw rateLimited(undefined, {
      headers: { 'retry-after': '60', 'ratelimit-policy': `"login";q=${limit};w=60`, ratelimit: `"login";r=0;t=60` },
    });
  }
}

async function findAccount(
  platform: Platform,
  tenant: string,
  { username, domain }: LoginInput,
  address: string,
): Promise<Account | undefined> {
  const lockEnd = `u.locked_at + interval '${LOCK_MINUTES} minutes'`;
  const [account] = await platform.system.query<Account>({
    name: 'login_account',
    text: `select u.id, u.tenant_id, u.username, u.password_hash, u.enabled, coalesce(${lockEnd} > now(), false) as locked,
        coalesce(u.password_expires_at <= now(), false) as password_expired,
        exists (select from dws.known_address k where k.user_id = u.id and k.address = $4 and k.seen_at > now() - interval '30 days') as known
      from dws.app_user u join dws.tenant t on t.id = u.tenant_id where t.slug = $1 and lower(u.username) = lower($2) and u.domain = $3`,
    values: [tenant, username, domain || 'local', address],
  });
  return account;
}

/** One more attempt in a row without success; the tenth locks. A lock that is over starts the count anew. Whether the user was open until now. */
async function noteAttempt(platform: Platform, account: Account): Promise<boolean> {
  // A lock that holds is not prolonged, and `where` sees what attempts at the same time have written.
  const counted = await platform.system.query({
    text: `update dws.app_user set login_attempts = case when locked_at is null then login_attempts + 1 else 1 end,
      locked_at = case when locked_at is null and login_attempts + 1 >= ${FAILURES} then now() end
      where id = $1 and (locked_at is null or locked_at <= now() - interval '${LOCK_MINUTES} minutes') returning id`,
    values: [account.id],
  });
  return counted.length > 0;
}

async function openSession(
  { platform, request }: PublicContext,
  account: Account,
): Promise<{ secret: string; expiresAt: Date }> {
  const secret = randomSecret();
  const sessionId = newId();
  const expiresAt = new Date(Date.now() + SESSION_SLIDING);
  await platform.system.transaction(async (query) => {
    await query({
      text: `insert into dws.session (id, tenant_id, user_id, token_hash, address, user_agent, last_used_at, expires_at) values ($1, $2, $3, $4, $5, $6, now(), $7)`,
      values: [sessionId, account.tenant_id, account.id, digest(secret), request.address, request.userAgent, expiresAt],
    });
    await query({
      text: `insert into dws.known_address (tenant_id, user_id, address, seen_at) values ($1, $2, $3, now()) on conflict (user_id, address) do update set seen_at = now()`,
      values: [account.tenant_id, account.id, request.address],
    });
    // Whoever is locked stays so elsewhere; otherwise a success ends the row of failures.
    if (!account.locked)
      await query({
        text: `update dws.app_user set login_attempts = 0, locked_at = null where id = $1 and (login_attempts > 0 or locked_at is not null)`,
        values: [account.id],
      });
    recordAuditTarget(request, 'user', request.mutation?.key ?? '', account.id);
    await recordAuditInTransaction(query, request, {
      tenant: { id: account.tenant_id },
      userId: account.id,
      username: account.username,
      sessionId,
    });
  });
  return { secret, expiresAt };
}

/** Ends the session that the request came with. */
export async function logout(ctx: PublicContext): Promise<void> {
  const { viewer, platform, request } = ctx;
  if (viewer?.authMethod === 'session') {
    await platform.system.transaction(async (query) => {
      await query({ text: `delete from dws.session where id = $1`, values: [viewer.credentialId] });
      await recordAuditInTransaction(query, request, actorOf(viewer));
    });
    credentialsChanged(ctx, [viewer.userId]);
  }
  request.setSession(null);
}
