import { Team } from '../../../../entities/team.ts';
import { User } from '../../../../entities/user.ts';
import type { Context } from '../../../core/context.ts';

/** Returns the names of recipients, for display. Addresses and deleted principals stay unchanged. */
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
