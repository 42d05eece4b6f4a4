import { setTimeout } from 'node:timers/promises';
import { PasswordReset } from '../../../entities/password-reset.ts';
import type { User } from '../../../entities/user.ts';
import { isAccountName } from '../../core/account-rules.ts';
import { addressRange } from '../../core/address-range.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context, PublicContext } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { gone } from '../../core/errors.ts';
import { newRow } from '../../core/new-row.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { digest, generateSecret } from '../../core/secret.ts';
import { isSlug, tenantOrDefault } from '../../core/slug.ts';
import { isActive } from '../resource/active-user.ts';
import { recordAuditInTransaction } from '../resource/audit.ts';
import { queueMail } from '../resource/mail.ts';
import { invalidateCredentials } from './credential-invalidation.ts';
import { countLoginAttempt } from './login.ts';
import { checkPassword, hashPassword } from './password.ts';

/** Lifetime of a link. See docs/contract/access.md#passwords. */
const RESET_LINK_LIFETIME_MS = 3_600_000;
/** Links mailed to one user in an hour. The limit keeps third parties from flooding the mailbox. */
const MAX_LINKS_PER_HOUR = 10;
/**
 * Shortest duration of a request. It exceeds the time of the work, so that the response time does not reveal which
 * users exist.
 */
const MIN_RESPONSE_MS = 200;

const linkGone = () => gone('This link was already used, has expired or never existed');

type LinkRecipient = Pick<User, 'id' | 'tenantId' | 'username' | 'email' | 'emailSetByToken'>;

/** Error of a mail to an address that the holder of a token could have set in order to get a session. */
const ADDRESS_SET_BY_TOKEN = 'An API token set the e-mail address: an operator must hand the mail over';

/**
 * Mails a link for a new password to an enabled user of the domain `local` whom no administrator has locked. Does nothing,
 * in the same time, for any other name. Throws 429 past the limit of logins.
 */
export async function request(
  { platform, request: { address, mutation } }: PublicContext,
  username: string,
  tenant?: string | null,
): Promise<void> {
  const slug = tenantOrDefault(tenant);
  const wellFormed = isSlug(slug) && isAccountName(username);
  await countLoginAttempt(platform, `reset/${slug}/${username.toLowerCase()}/${addressRange(address)}`);
  // The caller has no credentials, so the audit log records only the name that was used.
  if (mutation && wellFormed) mutation.actor = { tenant: { slug }, userId: null, username };
  await Promise.all([wellFormed ? mailLinkToUser(platform, slug, username) : null, setTimeout(MIN_RESPONSE_MS)]);
}

async function mailLinkToUser(platform: Platform, slug: string, username: string): Promise<void> {
  const [tenant] = await platform.system.query<{ id: string }>({
    text: `select id from dws.tenant where slug = $1`,
    values: [slug],
  });
  if (!tenant) return;
  await platform.database.transaction(tenant.id, async (tx) => {
    // The row lock serializes concurrent requests, so that each counts the links of the others.
    const [user] = await tx.query<LinkRecipient & Record<string, unknown>>({
      text: `
        select id, tenant_id as "tenantId", username, email, email_set_by_token as "emailSetByToken"
        from dws.app_user u
        where tenant_id = $1 and lower(username) = lower($2) and ${isActive('u')} and domain = 'local'
        for no key update`,
      values: [tenant.id, username],
    });
    if (!user) return;
    const [{ sent } = { sent: 0 }] = await tx.query<{ sent: number }>({
      text: `
        select count(*)::int as sent
        from dws.password_reset
        where tenant_id = $1 and user_id = $2 and created_at > now() - interval '1 hour'`,
      values: [tenant.id, user.id],
    });
    if (sent < MAX_LINKS_PER_HOUR) mailLink(platform, tx, user, 'a new password was requested for your account');
  });
}

/** Creates a link and queues a mail with it. The secret is stored as a hash here and encrypted in the mail. */
function mailLink(platform: Platform, tx: Transaction, user: LinkRecipient, reason: string): void {
  const secret = generateSecret();
  const expiresAt = new Date(Date.now() + RESET_LINK_LIFETIME_MS);
  tx.insert(newRow(PasswordReset, { tenantId: user.tenantId, userId: user.id, tokenHash: digest(secret), expiresAt }));
  const text = `Hello ${user.username},

${reason}. You can set one here within an hour; the link works once:

${platform.publicUrl}/password-reset/${secret}

If you did not expect this mail, ignore it: your password does not change.
`;
  const withheld = user.emailSetByToken ? ADDRESS_SET_BY_TOKEN : undefined;
  queueMail(platform, tx, { tenantId: user.tenantId, user, subject: 'Set a new password', text, expiresAt, withheld });
}

/**
 * Sets a new password with a mailed link, unlocks the user and ends their sessions and other links. API tokens stay
 * valid. Throws GONE if the link was used, has expired or never existed, or if its user is disabled, locked by an
 * administrator or not local.
 * Throws BAD_USER_INPUT for a refused password, which does not use up the link.
 */
export async function reset(ctx: PublicContext, secret: string, password: string): Promise<void> {
  const { platform } = ctx;
  const tokenHash = digest(secret);
  const user = await findLinkUser(platform, tokenHash);
  if (!user) throw linkGone();
  const { userId, tenantId, username } = user;
  checkPassword(password, username);
  const passwordHash = await hashPassword(password, ctx.request.address);

  await platform.database.transaction(tenantId, async (tx) => {
    // The row of the user is locked before the rows of the links, so that two links of one user do not deadlock.
    const [updated] = await tx.query({
      text: `
        update dws.app_user u set
          password_hash = $3, password_set_at = now(), password_expires_at = null,
          locked_at = null, login_attempts = 0, version = version + 1, updated_at = now()
        where tenant_id = $1 and id = $2 and ${isActive('u')} and domain = 'local'
        returning id`,
      values: [tenantId, userId, passwordHash],
    });
    const [link] = await tx.query({
      text: `
        update dws.password_reset set used_at = now()
        where tenant_id = $1 and token_hash = $2 and used_at is null and expires_at > now()
        returning id`,
      values: [tenantId, tokenHash],
    });
    if (!updated || !link) throw linkGone();
    await endResetLinks(tx.query, tenantId, userId);
    await tx.query({
      text: `delete from dws.session where tenant_id = $1 and user_id = $2`,
      values: [tenantId, userId],
    });
    recordAuditTarget(ctx.request, 'user', username, userId);
    await recordAuditInTransaction(tx.query, ctx.request, { tenant: { id: tenantId }, userId, username });
  });
  invalidateCredentials(ctx, [userId]);
  platform.log.info({ userId }, 'A password was set with a mailed link');
}

/** Returns whether a mailed link still works. */
export const isLinkOpen = async (platform: Platform, secret: string): Promise<boolean> =>
  (await findLinkUser(platform, digest(secret))) !== undefined;

interface LinkUser extends Record<string, unknown> {
  userId: string;
  tenantId: string;
  username: string;
}

/** Returns the user of an open link, or undefined. */
async function findLinkUser({ system }: Platform, tokenHash: string): Promise<LinkUser | undefined> {
  const [user] = await system.query<LinkUser>({
    text: `
      select u.id as "userId", u.tenant_id as "tenantId", u.username
      from dws.password_reset r
      join dws.app_user u on u.id = r.user_id
      where r.token_hash = $1 and r.used_at is null and r.expires_at > now() and ${isActive('u')}
        and u.domain = 'local'`,
    values: [tokenHash],
  });
  return user;
}

/** Ends the open links of a user. */
export async function endResetLinks(query: Query, tenantId: string, userId: string): Promise<void> {
  await query({
    text: `update dws.password_reset set used_at = now() where tenant_id = $1 and user_id = $2 and used_at is null`,
    values: [tenantId, userId],
  });
}

/** The fields of a user on which their links depend. */
type LinkCriteria = Pick<User, 'email' | 'domain' | 'enabled' | 'adminLockedAt'>;

/**
 * Updates the links of a user who has changed; `former` is the user before the change. Ends links mailed to a former
 * address and links of accounts that were disabled, locked or moved. Records whether the new address may get links. Mails a link
 * to a user who moved to the domain `local`, since they have no password here. See docs/contract/access.md#passwords.
 */
export async function updateResetLinks(
  { platform, viewer }: Context,
  tx: Transaction,
  user: User,
  former: LinkCriteria,
): Promise<void> {
  const moved = user.domain !== former.domain;
  const hasNewAddress = (user.email ?? null) !== (former.email ?? null);
  // With a link to an address of its choice, a token could get a session, and with it change the address of its own user.
  if (hasNewAddress) user.emailSetByToken = viewer.authMethod !== 'session';
  const mayLogIn = ({ enabled, adminLockedAt }: LinkCriteria) => enabled && !adminLockedAt;
  if (moved || (mayLogIn(former) && !mayLogIn(user)) || hasNewAddress)
    await endResetLinks(tx.query, user.tenantId, user.id);
  if (moved && user.domain === 'local') mailLink(platform, tx, user, 'your account has moved and needs a new password');
}
