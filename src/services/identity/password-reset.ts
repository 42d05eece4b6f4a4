import { setTimeout } from 'node:timers/promises';
import { PasswordReset } from '../../../entities/password-reset.ts';
import type { User } from '../../../entities/user.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { PublicContext } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { gone } from '../../core/errors.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { isSlug } from '../../core/slug.ts';
import { recordAuditInTransaction } from '../resource/audit.ts';
import { post } from '../resource/mail.ts';
import { credentialsChanged } from './credential-invalidation.ts';
import { digest, randomSecret } from './credential.ts';
import { countAttempt } from './login.ts';
import { checkPassword, hashPassword } from './password.ts';
import { USERNAME } from './username.ts';

/** How long a link lasts (contract 2), in milliseconds. */
const LASTS = 3_600_000;
/** Links that a user may be mailed in an hour, whoever asks for them: more would only fill the mailbox. */
const MAX_AN_HOUR = 10;
/** Nobody learns from the time of an answer whether there is such a user: it takes at least this many milliseconds, and the work less. */
const ANSWER_AFTER = 200;

const outOfDate = () => gone('This link was used already, has expired or never existed');

type Recipient = Pick<User, 'id' | 'tenantId' | 'username' | 'email'>;

/** Mails a link for a new password to an enabled local user; for anybody else nothing happens, in the same time. 429 past the limit of logins. */
export async function request(
  { platform, request: { address, mutation } }: PublicContext,
  username: string,
  tenant?: string | null,
): Promise<void> {
  const slug = tenant || 'default';
  await countAttempt(platform, `reset/${slug}/${username.toLowerCase()}/${address}`);
  // Whoever asks has shown no credentials: the log has no more than the name they gave.
  if (mutation && isSlug(slug) && USERNAME.test(username))
    mutation.actor = { tenant: { slug }, userId: null, username };
  await Promise.all([
    isSlug(slug) && USERNAME.test(username) ? mailIfKnown(platform, slug, username) : null,
    setTimeout(ANSWER_AFTER),
  ]);
}

async function mailIfKnown(platform: Platform, slug: string, username: string): Promise<void> {
  const [tenant] = await platform.system.query<{ id: string }>({
    text: `select id from dws.tenant where slug = $1`,
    values: [slug],
  });
  if (!tenant) return;
  await platform.database.transaction(tenant.id, async (tx) => {
    // The lock makes requests at once count each other.
    const [user] = await tx.query<Recipient & Record<string, unknown>>({
      text: `select id, tenant_id as "tenantId", username, email from dws.app_user where tenant_id = $1 and lower(username) = lower($2) and enabled and domain = 'local' for no key update`,
      values: [tenant.id, username],
    });
    if (!user) return;
    const [{ sent } = { sent: 0 }] = await tx.query<{ sent: number }>({
      text: `select count(*)::int as sent from dws.password_reset where tenant_id = $1 and user_id = $2 and created_at > now() - interval '1 hour'`,
      values: [tenant.id, user.id],
    });
    if (sent < MAX_AN_HOUR) mailLink(platform, tx, user, 'somebody, probably you, asked for a new password');
  });
}

/** Makes a link and puts the mail with it into the outbox. The secret is kept as a hash here and sealed there. */
function mailLink(platform: Platform, tx: Transaction, user: Recipient, reason: string): void {
  const secret = randomSecret();
  const expiresAt = new Date(Date.now() + LASTS);
  tx.em.persist(
    tx.em.create(
      PasswordReset,
      { tenantId: user.tenantId, userId: user.id, tokenHash: digest(secret), expiresAt },
      { partial: true },
    ),
  );
  const text = `Hello ${user.username},

${reason}. You can set one here within an hour; the link works once:

${platform.publicUrl}/password-reset/${secret}

If you do not know why you get this mail, ignore it: your password stays as it is.
`;
  post(platform, tx, { tenantId: user.tenantId, user, subject: 'Set a new password', text, expiresAt });
}

/**
 * Sets a new password by a mailed link, unlocks the user and ends all their sessions and other links; API tokens stay. 410 when the link was used, has
 * expired or never existed, or its user is no longer an enabled local one; 400 for a bad password, which does not use the link up.
 */
export async function reset(ctx: PublicContext, secret: string, password: string): Promise<void> {
  const { platform } = ctx;
  const tokenHash = digest(secret);
  const [found] = await platform.system.query<{ userId: string; tenantId: string; username: string }>({
    text: `select u.id as "userId", u.tenant_id as "tenantId", u.username from dws.password_reset r join dws.app_user u on u.id = r.user_id
      where r.token_hash = $1 and r.used_at is null and r.expires_at > now() and u.enabled and u.domain = 'local'`,
    values: [tokenHash],
  });
  if (!found) throw outOfDate();
  const { userId, tenantId, username } = found;
  checkPassword(password, username);
  const passwordHash = await hashPassword(password);

  await platform.database.transaction(tenantId, async (tx) => {
    // The user's row is always locked before their links: two links of one user must not wait for each other.
    const [user] = await tx.query({
      text: `update dws.app_user set password_hash = $3, password_set_at = now(), password_expires_at = null, locked_at = null, login_attempts = 0, version = version + 1, updated_at = now()
        where tenant_id = $1 and id = $2 and enabled and domain = 'local' returning id`,
      values: [tenantId, userId, passwordHash],
    });
    const [mine] = await tx.query({
      text: `update dws.password_reset set used_at = now() where tenant_id = $1 and token_hash = $2 and used_at is null and expires_at > now() returning id`,
      values: [tenantId, tokenHash],
    });
    if (!user || !mine) throw outOfDate();
    await endLinks(tx.query, tenantId, userId);
    await tx.query({
      text: `delete from dws.session where tenant_id = $1 and user_id = $2`,
      values: [tenantId, userId],
    });
    recordAuditTarget(ctx.request, 'user', username, userId);
    await recordAuditInTransaction(tx.query, ctx.request, { tenant: { id: tenantId }, userId, username });
  });
  credentialsChanged(ctx, [userId]);
  platform.log.info({ userId }, 'A password was set by a mailed link');
}

/** Ends the open links of a user, after a change that they were not meant to survive. */
export async function endLinks(query: Query, tenantId: string, userId: string): Promise<void> {
  await query({
    text: `update dws.password_reset set used_at = now() where tenant_id = $1 and user_id = $2 and used_at is null`,
    values: [tenantId, userId],
  });
}

/** What decides about links of a user, as it was before a change. */
export type Former = Pick<User, 'email' | 'domain' | 'enabled'>;

/**
 * Call it with what a user was when they have changed: links that went to another address, or were for an account that has since been disabled or moved,
 * end. Who becomes local has no password of theirs here and is mailed a link (specification, `PUT /api/users/{username}`).
 */
export async function userChanged(platform: Platform, tx: Transaction, user: User, former: Former): Promise<void> {
  const moved = user.domain !== former.domain;
  if (moved || (former.enabled && !user.enabled) || (user.email ?? null) !== (former.email ?? null))
    await endLinks(tx.query, user.tenantId, user.id);
  if (moved && user.domain === 'local') mailLink(platform, tx, user, 'your account has moved and needs a new password');
}
