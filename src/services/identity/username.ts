import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';

/** Pattern of usernames and domains. See docs/contract.md#credentials. */
export const USERNAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$/;

/** Returns the username. Throws BAD_USER_INPUT if it does not match the pattern or has the form of a UUID. */
export function checkUsername(username: string): string {
  if (!USERNAME_PATTERN.test(username) || isUuid(username))
    throw invalid(
      'username',
      'must match ^[A-Za-z0-9][A-Za-z0-9_.@-]*$, have at most 100 characters and not have the form of a UUID',
    );
  return username;
}
