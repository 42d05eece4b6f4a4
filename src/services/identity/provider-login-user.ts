import { TeamMember } from '../../../entities/team-member.ts';
import { User } from '../../../entities/user.ts';
import { isAccountName, isEmailAddress, usernameIssue } from '../../core/account-rules.ts';
import { newRow } from '../../core/new-row.ts';
import { NEW_USER_PERMISSIONS } from '../../core/permissions.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { isActive } from '../resource/active-user.ts';
import { lockKey } from '../resource/lock-key.ts';
import { deleteCredentials } from './credential-cleanup.ts';
import { lockOf } from './user-lock.ts';
import { findUsernameOwner } from './user-lookup.ts';

/** An identity provider, as far as a login requires it. */
export interface ProviderSettings extends Record<string, unknown> {
  id: string;
  /** Changes with the record: a login that began with another version is refused. */
  version: number;
  tenantId: string;
  domain: string;
  usernameClaim: string;
  createUsers: boolean;
  emailDomains: string[];
  teamIds: string[];
}

/** A user as the provider describes them. */
export interface ExternalUser {
  subject: string;
  /** Null if the provider sends no valid username. */
  username: string | null;
  /** Null unless the provider has verified the address. */
  email: string | null;
  displayName: string | null;
  givenName: string | null;
  familyName: string | null;
}

/** The user who logs in, or why the login is refused, with the id of the user concerned. */
export type LoginUser =
  | { id: string; tenantId: string; username: string; refusal?: never }
  | { refusal: string; id: string | null };

interface KnownUser extends Record<string, unknown> {
  id: string;
  tenantId: string;
  username: string;
  domain: string;
  enabled: boolean;
  superuser: boolean;
  lockedAt: Date | null;
  adminLockedAt: Date | null;
}

const KNOWN_USER = `
  select u.id, u.tenant_id as "tenantId", u.username, u.domain, u.enabled, u.superuser, u.locked_at as "lockedAt",
    u.admin_locked_at as "adminLockedAt"
  from dws.app_user u`;

/**
 * Finds the user of an account at the provider: the one who is linked with it, else an unlinked user of this name in
 * the domain of the provider, who is linked, else a new user if the provider may create users. Never a superuser or a
 * user of another domain. See docs/contract.md#identity-providers.
 */
export function findLoginUser(
  platform: Platform,
  provider: ProviderSettings,
  external: ExternalUser,
): Promise<LoginUser> {
  return platform.database.transaction(provider.tenantId, async (tx) => {
    // Concurrent logins create one user for an account, and link a user with one account.
    lockKey(tx, `login:${provider.id}`);
    // The calls to the provider took their time. From here on it stays as it is.
    const unchanged = await tx.query({
      text: `select id from dws.identity_provider where tenant_id = $1 and id = $2 and version = $3 for key share`,
      values: [provider.tenantId, provider.id, provider.version],
    });
    if (unchanged.length === 0) return { refusal: 'The provider has changed during the login', id: null };
    const [linked] = await tx.query<KnownUser>({
      text: `
        ${KNOWN_USER} join dws.user_identity i on i.user_id = u.id
        where i.tenant_id = $1 and i.provider_id = $2 and i.subject = $3`,
      values: [provider.tenantId, provider.id, external.subject],
    });
    if (linked) return checkUser(provider, linked);
    if (external.username === null)
      return { refusal: `The claim ${provider.usernameClaim} is no valid username`, id: null };
    return (await findByName(tx, provider, external)) ?? createUser(tx, provider, external);
  });
}

/** Returns the user, or why they may not log in with this provider. */
function checkUser(provider: ProviderSettings, user: KnownUser): LoginUser {
  const refusal = refusalOf(provider, user);
  return refusal === undefined ? user : { refusal, id: user.id };
}

function refusalOf({ domain }: ProviderSettings, user: KnownUser): string | undefined {
  if (user.domain.toLowerCase() !== domain.toLowerCase()) return `The user belongs to the domain ${user.domain}`;
  if (user.superuser) return 'The user is a superuser';
  if (!user.enabled) return 'The user is disabled';
  if (lockOf(user)) return 'The user is locked';
  return undefined;
}

/**
 * Returns the user of this name in any domain, whose account is then linked, or why the login is refused. Returns
 * undefined if there is none.
 */
async function findByName(
  tx: Transaction,
  provider: ProviderSettings,
  external: ExternalUser,
): Promise<LoginUser | undefined> {
  const [named] = await tx.query<KnownUser & { isLinked: boolean }>({
    text: `
      select k.*, exists (
        select from dws.user_identity i where i.tenant_id = $1 and i.provider_id = $2 and i.user_id = k.id
      ) as "isLinked"
      from (${KNOWN_USER} where u.tenant_id = $1 and lower(u.username) = lower($3)) k`,
    values: [provider.tenantId, provider.id, external.username],
  });
  if (!named) return undefined;
  const checked = checkUser(provider, named);
  if (checked.refusal !== undefined) return checked;
  if (named.isLinked) return { refusal: 'The user is linked with another account of the provider', id: named.id };
  if (!(await endFormerAccess(tx, named))) return { refusal: 'The user has changed during the login', id: named.id };
  link(tx, provider, external, named.id);
  return checked;
}

/**
 * Ends the password, sessions and tokens of a user whose account is linked, since their holder need not be that of the
 * account. Returns false if the user may no longer be linked.
 */
async function endFormerAccess(tx: Transaction, { tenantId, id, domain }: KnownUser): Promise<boolean> {
  const found = await tx.query({
    text: `
      update dws.app_user u set
        password_hash = null, password_set_at = null, version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2 and domain = $3 and ${isActive('u')} and not superuser
      returning id`,
    values: [tenantId, id, domain],
  });
  if (found.length > 0) await deleteCredentials(tx.query, tenantId, id);
  return found.length > 0;
}

async function createUser(tx: Transaction, provider: ProviderSettings, external: ExternalUser): Promise<LoginUser> {
  const { createUsers, emailDomains } = provider;
  const emailDomain = external.email?.split('@').at(-1)?.toLowerCase();
  if (!createUsers) return { refusal: 'There is no such user, and the provider creates none', id: null };
  if (emailDomains.length > 0 && (emailDomain === undefined || !emailDomains.includes(emailDomain)))
    return { refusal: 'There is no such user, and the e-mail address has none of the domains for new users', id: null };
  return insertUser(tx, provider, external);
}

async function insertUser(tx: Transaction, provider: ProviderSettings, external: ExternalUser): Promise<LoginUser> {
  const { tenantId, domain, teamIds } = provider;
  // The name may have been taken since it was looked up.
  const taken = await findUsernameOwner(tx, tenantId, external.username!);
  if (taken !== undefined) return { refusal: 'Another user has the name', id: taken };
  const teams = await tx.query<{ id: string }>({
    text: `select id from dws.team where tenant_id = $1 and id = any($2) for key share`,
    values: [tenantId, teamIds],
  });
  const { subject: _subject, username, ...profile } = external;
  const user = tx.insert(
    newRow(User, {
      ...profile,
      tenantId,
      domain,
      username: username!,
      enabled: true,
      permissions: [...NEW_USER_PERMISSIONS],
    }),
  );
  for (const team of teams)
    tx.insert(newRow(TeamMember, { tenantId, teamId: team.id, userId: user.id, role: 'member' }));
  link(tx, provider, external, user.id);
  return { id: user.id, tenantId, username: user.username };
}

const link = (tx: Transaction, provider: ProviderSettings, { subject }: ExternalUser, userId: string): void =>
  tx.execute({
    text: `insert into dws.user_identity (tenant_id, provider_id, subject, user_id) values ($1, $2, $3, $4)`,
    values: [provider.tenantId, provider.id, subject, userId],
  });

const MAX_EMAIL_CHARACTERS = 320;

/** Reads the description of a user from the claims of an ID token and of the user info. */
export function readClaims(
  { usernameClaim }: ProviderSettings,
  claims: Readonly<Record<string, unknown>> & { sub: string },
): ExternalUser {
  const address = isTrue(claims['email_verified']) ? claims['email'] : null;
  // The beginning of a longer address could have another domain.
  const email =
    typeof address === 'string' && address.length <= MAX_EMAIL_CHARACTERS
      ? textOf(address, MAX_EMAIL_CHARACTERS)
      : null;
  const username = usernameClaim === 'email' ? email : claims[usernameClaim];
  return {
    subject: claims.sub,
    username: typeof username === 'string' && isUsername(username) ? username : null,
    email: email !== null && isEmailAddress(email) ? email : null,
    displayName: textOf(claims['name'], 255),
    givenName: textOf(claims['given_name'], 255),
    familyName: textOf(claims['family_name'], 255),
  };
}

const isUsername = (text: string): boolean => isAccountName(text) && usernameIssue(text) === undefined;

/** Some providers send booleans as texts. */
const isTrue = (claim: unknown): boolean => claim === true || claim === 'true';

/** Returns a claim as one line of text; null for anything else and for an empty text. */
const textOf = (claim: unknown, maxLength: number): string | null =>
  typeof claim === 'string'
    ? claim
        .replaceAll(/[\p{Cc}\s]+/gu, ' ')
        .trim()
        .slice(0, maxLength) || null
    : null;
