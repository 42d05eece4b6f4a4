import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';

/** What names of users, and of the domains that keep their accounts, look like (contract 2). */
export const USERNAME = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$/;

/** Refuses what cannot be a username. */
export function checkUsername(username: string): string {
  if (!USERNAME.test(username) || isUuid(username))
    throw invalid(
      'username',
      'must match ^[A-Za-z0-9][A-Za-z0-9_.@-]*$, have at most 100 characters and not be shaped like a UUID',
    );
  return username;
}
