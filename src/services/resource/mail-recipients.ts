import type { Query } from '../../core/database.ts';
import { badInput } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import { isActive } from './active-user.ts';
import { MAX_OF_ONE } from './hourly-limits.ts';

/** A user who gets a mail. */
export interface MailUser {
  id: string;
  email: string;
}

/** The recipients of a mail. */
export interface MailRecipients {
  users: MailUser[];
  /** Plain addresses, without the addresses of the users. */
  addresses: string[];
  /** Number of users who get none because they are disabled or locked by an administrator. */
  disabled: number;
  /** Number of users who get none because they have no address. */
  withoutAddress: number;
}

interface UserRow extends Record<string, unknown> {
  id: string;
  email: string | null;
  active: boolean;
}

/**
 * Returns the recipients of a mail of an owner: `user:<id>` stands for the user, `team:<id>` for its members, anything
 * else is an address. Users get one mail however often they are named. Deleted principals are ignored. Throws
 * BAD_USER_INPUT for more recipients than one job or app may send to in an hour.
 */
export async function findMailRecipients(
  { query }: { query: Query },
  { tenantId, ownerId }: { tenantId: string; ownerId: string },
  recipients: readonly string[],
): Promise<MailRecipients> {
  const idsOf = (prefix: string) =>
    recipients.filter((recipient) => recipient.startsWith(prefix)).map((recipient) => recipient.slice(prefix.length));
  const rows = await query<UserRow>({
    text: `
      select id, email, ${isActive('u')} as active
      from dws.app_user u
      where tenant_id = $1
        and (
          id = any($2)
          or id in (select user_id from dws.team_member where tenant_id = $1 and team_id = any($3))
        )
      order by id`,
    values: [tenantId, idsOf('user:'), idsOf('team:')],
  });
  const active = rows.filter((row) => row.active);
  const users = active.filter((row): row is UserRow & MailUser => Boolean(row.email));
  const known = new Set(users.map(({ email }) => email.toLowerCase()));
  const addresses = recipients.filter((recipient) => {
    const key = recipient.toLowerCase();
    if (/^(?:user|team):/.test(recipient) || known.has(key)) return false;
    return known.add(key);
  });
  const others = users.filter(({ id }) => id !== ownerId).length + addresses.length;
  if (others > MAX_OF_ONE)
    throw badInput(`The mail has ${others} recipients besides the owner; the maximum is ${MAX_OF_ONE}`);
  const [disabled, withoutAddress] = [rows.length - active.length, active.length - users.length];
  return { users, addresses, disabled, withoutAddress };
}

/**
 * Returns the users who still get a mail, with their current addresses, and locks their rows against deletion until the
 * transaction ends.
 */
export async function lockMailUsers(
  tx: Transaction,
  tenantId: string,
  users: readonly MailUser[],
): Promise<MailUser[]> {
  return tx.query<MailUser & Record<string, unknown>>({
    text: `
      select id, email
      from dws.app_user u
      where tenant_id = $1 and id = any($2) and ${isActive('u')} and email is not null
      order by id
      for key share`,
    values: [tenantId, users.map(({ id }) => id)],
  });
}
