import { MAX_PASSWORD_LENGTH, isAccountName } from '../../core/account-rules.ts';
import { addressRange } from '../../core/address-range.ts';
import type { PublicContext } from '../../core/context.ts';
import { rateLimited, refused, wrongCredentials } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import { digest } from '../../core/secret.ts';
import { isSlug, tenantOrDefault } from '../../core/slug.ts';
import type { Viewer } from '../../core/viewer.ts';
import { isActive } from '../resource/active-user.ts';
import { findViewer, LOGIN_LOCK_MINUTES } from './credential.ts';
import { verifyPassword } from './password.ts';
import { hasProvider, openSession, type SessionUser } from './session-opening.ts';

/** Consecutive failed logins that lock a user. See docs/contract/access.md#credentials. */
const MAX_FAILED_LOGINS = 10;

interface LoginInput {
  username: string;
  password: string;
  domain?: string | null;
  tenant?: string | null;
}

interface Account extends Record<string, unknown> {
  id: string;
  tenant_id: string;
  username: string;
  domain: string;
  password_hash: string | null;
  /** Whether the user is enabled and not locked by an administrator. */
  active: boolean;
  /** Whether failed logins have locked the user. */
  locked: boolean;
  /** Whether the user logged in from the address of the request during the last 30 days. */
  known_address: boolean;
  password_expired: boolean;
  /** Whether the users of the domain log in at an identity provider. */
  has_provider: boolean;
}

/**
 * Opens a session and sets its cookie. Throws the same 401 after the same time for a wrong password and for an unknown,
 * disabled or locked user, and for one whose domain has an identity provider. Throws 429 past the limit of attempts,
 * before it checks the password, and 403 to a page from which the browser would not send the cookie.
 */
export async function login(ctx: PublicContext, input: LoginInput): Promise<{ viewer: Viewer; expiresAt: Date }> {
  const { platform, request } = ctx;
  if (request.cookieRefusal) throw refused(request.cookieRefusal);
  const tenant = tenantOrDefault(input.tenant);
  await countLoginAttempt(platform, `${tenant}/${input.username.toLowerCase()}/${addressRange(request.address)}`);

  const account = isWellFormed(tenant, input) ? await findAccount(platform, tenant, input, request.address) : undefined;
  const mayLogIn =
    account !== undefined &&
    hasPassword(account) &&
    account.active &&
    !account.password_expired &&
    !account.has_provider &&
    (!account.locked || account.known_address);
  // The attempt counts as a failure before its result is known, so that concurrent attempts cannot bypass the lock.
  // A success resets the count.
  const [passwordMatches, wasUnlocked] = await Promise.all([
    verifyPassword(mayLogIn ? account.password_hash : null, input.password, request.address),
    mayLogIn ? countFailure(platform, account) : false,
  ]);
  const isAccepted = mayLogIn && passwordMatches && (wasUnlocked || account.known_address);
  const session = isAccepted ? await openSession(ctx, sessionUserOf(account)) : null;
  const found = session && (await findViewer(platform.system, { method: 'session', secret: session.secret }));
  if (!found) {
    recordFailedLogin(ctx, tenant, input.username);
    throw wrongCredentials();
  }
  request.setSession(session.secret);
  return { viewer: found.viewer, expiresAt: session.expiresAt };
}

const hasPassword = (account: Account): account is Account & { password_hash: string } =>
  account.password_hash !== null;

/** Sets the audit actor of a failed login to the name that was used, whether such a user exists or not. */
function recordFailedLogin({ request: { mutation } }: PublicContext, tenant: string, username: string): void {
  if (!mutation) return;
  mutation.isDenied = true;
  // A malformed name may be a password that was typed into the wrong field, so it is not recorded.
  const name = isAccountName(username) ? username : '';
  Object.assign(mutation, { key: name, actor: { tenant: { slug: tenant }, userId: null, username: name } });
}

/** Returns whether such an account can exist. Other input, of any length, never reaches the database or the hash. */
const isWellFormed = (tenant: string, { username, domain, password }: LoginInput): boolean =>
  isSlug(tenant) &&
  isAccountName(username) &&
  isAccountName(domain || 'local') &&
  password.length <= MAX_PASSWORD_LENGTH;

/**
 * Counts an attempt to prove who a user is, exactly and across processes. Throws 429 past `factor` times `RATE_LIMIT_LOGIN`
 * attempts with the same key in `minutes`, at most `LOGIN_LOCK_MINUTES`.
 */
export async function countLoginAttempt(
  platform: Platform,
  attempt: string,
  { factor = 1, minutes = 1 }: { factor?: number; minutes?: number } = {},
): Promise<void> {
  const limit = factor * platform.config.RATE_LIMIT_LOGIN;
  if (limit === 0) return;
  const key = digest(attempt);
  const [{ attempts } = { attempts: 0 }] = await platform.system.transaction(async (query) => {
    await query({ text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`, values: [key] });
    await query({
      text: `delete from dws.login_attempt where key = $1 and at < now() - $2 * interval '1 minute'`,
      values: [key, minutes],
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
    const seconds = 60 * minutes;
    throw rateLimited(undefined, {
      headers: {
        'retry-after': `${seconds}`,
        'ratelimit-policy': `"login";q=${limit};w=${seconds}`,
        ratelimit: `"login";r=0;t=${seconds}`,
      },
    });
  }
}

async function findAccount(
  platform: Platform,
  tenant: string,
  { username, domain }: LoginInput,
  address: string,
): Promise<Account | undefined> {
  const [account] = await platform.system.query<Account>({
    text: `
      select u.id, u.tenant_id, u.username, u.domain, u.password_hash, ${isActive('u')} as active,
        coalesce(u.locked_at + interval '${LOGIN_LOCK_MINUTES} minutes' > now(), false) as locked,
        coalesce(u.password_expires_at <= now(), false) as password_expired,
        ${hasProvider('u')} as has_provider,
        exists (
          select from dws.known_address k
          where k.user_id = u.id and k.address = $4 and k.seen_at > now() - interval '30 days'
        ) as known_address
      from dws.app_user u
      join dws.tenant t on t.id = u.tenant_id
      where t.slug = $1 and lower(u.username) = lower($2) and u.domain = $3`,
    values: [tenant, username, domain || 'local', address],
  });
  return account;
}

/**
 * Counts a failed attempt. The tenth in a row locks the user, and the first after a lock restarts the count. Returns
 * whether the user was not locked before the attempt.
 */
async function countFailure(platform: Platform, account: Account): Promise<boolean> {
  // The condition reads the row as concurrent attempts left it. It excludes locked users, so that no lock is prolonged.
  const counted = await platform.system.query({
    text: `
      update dws.app_user set
        login_attempts = case when locked_at is null then login_attempts + 1 else 1 end,
        locked_at = case when locked_at is null and login_attempts + 1 >= ${MAX_FAILED_LOGINS} then now() end
      where id = $1
        and (locked_at is null or locked_at <= now() - interval '${LOGIN_LOCK_MINUTES} minutes')
      returning id`,
    values: [account.id],
  });
  return counted.length > 0;
}

const sessionUserOf = (account: Account & { password_hash: string }): SessionUser => ({
  id: account.id,
  tenantId: account.tenant_id,
  username: account.username,
  isLocked: account.locked,
  proof: { passwordHash: account.password_hash, domain: account.domain },
});
