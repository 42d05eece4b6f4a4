import { Team } from '../../../../entities/team.ts';
import { User } from '../../../../entities/user.ts';
import { isEmailAddress } from '../../../core/account-rules.ts';
import type { Context } from '../../../core/context.ts';
import { invalid } from '../../../core/input-checks.ts';
import type { SavedAction } from '../../../core/job-drivers.ts';
import { resolvePrincipal } from '../../resource/resolve-ids.ts';

/** Returns whether a recipient is an e-mail address and not a principal. */
const isAddress = (recipient: string): boolean => !/^(user|team):/.test(recipient) && isEmailAddress(recipient);

/**
 * Returns recipients with canonical principals: `user:<id>`, `team:<id>`. E-mail addresses stay as they are. Throws
 * NOT_FOUND for an unknown principal, BAD_USER_INPUT for an address where only principals may be.
 */
export async function resolveRecipients(
  recipients: readonly string[],
  { ctx, tx }: SavedAction,
  { addresses }: { addresses: boolean },
): Promise<string[]> {
  const refused = recipients.findIndex((recipient) => isAddress(recipient) && !addresses);
  if (refused >= 0)
    throw invalid(`data.recipients.${refused}`, 'must be a user or a team: an address has no access to data');
  return Promise.all(
    recipients.map(async (recipient) =>
      isAddress(recipient) ? recipient : resolvePrincipal(tx, ctx.viewer.tenantId, recipient),
    ),
  );
}

/** Returns the names of recipients, for display. Addresses and principals that were deleted stay as they are. */
export async function namesOf({ read }: Context, recipients: readonly string[]): Promise<string[]> {
  const idsOf = (prefix: string) =>
    recipients.filter((recipient) => recipient.startsWith(prefix)).map((recipient) => recipient.slice(prefix.length));
  const [users, teams] = await Promise.all([
    read.many(User, idsOf('user:'), ['id', 'username', 'displayName']),
    read.many(Team, idsOf('team:'), ['id', 'name']),
  ]);
  const names = new Map<string, string>([
    ...users.flatMap((user) => (user ? [[`user:${user.id}`, user.displayName ?? user.username] as const] : [])),
    ...teams.flatMap((team) => (team ? [[`team:${team.id}`, team.name] as const] : [])),
  ]);
  return recipients.map((recipient) => names.get(recipient) ?? recipient);
}
