import { TeamMember } from '../../../entities/team-member.ts';
import { User } from '../../../entities/user.ts';
import { numberedUsernames } from '../../core/account-rules.ts';
import { lockKey } from '../../core/locks.ts';
import { newRow } from '../../core/new-row.ts';
import { NEW_USER_PERMISSIONS } from '../../core/permissions.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { isActive } from '../resource/active-user.ts';
import { deleteCredentials } from './credential-cleanup.ts';
import type { ExternalUser, NamedUser } from './provider-claims.ts';
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
 * Finds the user of an account at the provider: the user who is linked with it, else an unlinked user of this name in
 * the domain of the provider, who is then linked. If neither exists, creates a user if the provider may. Never returns
 * a superuser or a user of another domain. See docs/contract/access.md#identity-providers.
 */
export function findLoginUser(
  platform: Platform,
  provider: ProviderSettings,
  external: ExternalUser,
): Promise<LoginUser> {
  return platform.database.transaction(provider.tenantId, async (tx) => {
    // Concurrent logins create one user for an account, and link a user with one account.
    lockKey(tx, `login:${provider.id}`);
    // The provider may have changed during the calls to it. From here on its row stays as it is.
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
    if (external.username === null) return { refusal: `The claim ${provider.usernameClaim} has no username`, id: null };
    // Two names of the provider can become one username, so that only exact ones identify a user.
    const named = external.isExactName ? await findByName(tx, provider, external) : undefined;
    return named ?? createUser(tx, provider, external);
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
 * Links the account with the user of this name, and returns the user; refuses one of another domain. Returns
 * undefined for an unknown name, and for a username that was derived from another name: its user is another person.
 */
async function findByName(
  tx: Transaction,
  provider: ProviderSettings,
  external: NamedUser,
): Promise<LoginUser | undefined> {
  const [named] = await tx.query<KnownUser & { isLinked: boolean }>({
    text: `
      select k.*, exists (
        select from dws.user_identity i where i.tenant_id = $1 and i.provider_id = $2 and i.user_id = k.id
      ) as "isLinked"
      from (
        ${KNOWN_USER}
        where u.tenant_id = $1 and lower(u.username) = lower($3) and lower(u.derived_username) is distinct from lower(u.username)
      ) k`,
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
 * Ends the password, sessions and tokens of a user whose account is linked, since their holder may be another person
 * than the holder of the account. Returns false if the user may no longer be linked.
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

async function createUser(tx: Transaction, provider: ProviderSettings, external: NamedUser): Promise<LoginUser> {
  const { createUsers, emailDomains } = provider;
  const emailDomain = external.email?.split('@').at(-1)?.toLowerCase();
  if (!createUsers) return { refusal: 'There is no such user, and the provider creates none', id: null };
  if (emailDomains.length > 0 && (emailDomain === undefined || !emailDomains.includes(emailDomain)))
    return { refusal: 'There is no such user, and the e-mail address has none of the domains for new users', id: null };
  return insertUser(tx, provider, external);
}

async function insertUser(tx: Transaction, provider: ProviderSettings, external: NamedUser): Promise<LoginUser> {
  const { tenantId, domain, teamIds } = provider;
  // The name may have been taken since it was looked up, or its user may have a derived name.
  const owner = await findUsernameOwner(tx, tenantId, external.username);
  if (owner !== undefined && external.isExactName) return { refusal: 'Another user has the name', id: owner };
  const username = owner === undefined ? external.username : await findFreeName(tx, tenantId, external.username);
  if (username === undefined) return { refusal: 'All usernames for the name are taken', id: null };
  const teams = await tx.query<{ id: string }>({
    text: `select id from dws.team where tenant_id = $1 and id = any($2) for key share`,
    values: [tenantId, teamIds],
  });
  const { subject: _subject, username: _name, isExactName: _isExact, ...profile } = external;
  const user = tx.insert(
    newRow(User, {
      ...profile,
      tenantId,
      domain,
      username,
      enabled: true,
      permissions: [...NEW_USER_PERMISSIONS],
    }),
  );
  for (const team of teams)
    tx.insert(newRow(TeamMember, { tenantId, teamId: team.id, userId: user.id, role: 'member' }));
  if (!external.isExactName)
    tx.execute({
      text: `update dws.app_user set derived_username = username where tenant_id = $1 and id = $2`,
      values: [tenantId, user.id],
    });
  link(tx, provider, external, user.id);
  return { id: user.id, tenantId, username: user.username };
}

/** Returns the first username with a number that is free. The caller has locked the names (`findUsernameOwner`). */
async function findFreeName(tx: Transaction, tenantId: string, name: string): Promise<string | undefined> {
  const candidates = numberedUsernames(name);
  const taken = await tx.query<{ name: string }>({
    text: `select lower(username) as name from dws.app_user where tenant_id = $1 and lower(username) = any($2)`,
    values: [tenantId, candidates.map((candidate) => candidate.toLowerCase())],
  });
  const names = new Set(taken.map((row) => row.name));
  return candidates.find((candidate) => !names.has(candidate.toLowerCase()));
}

const link = (tx: Transaction, provider: ProviderSettings, { subject }: ExternalUser, userId: string): void =>
  tx.execute({
    text: `insert into dws.user_identity (tenant_id, provider_id, subject, user_id) values ($1, $2, $3, $4)`,
    values: [provider.tenantId, provider.id, subject, userId],
  });
