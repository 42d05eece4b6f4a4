import { isUuid } from './id.ts';

/** Pattern of usernames and domains. See docs/contract.md#credentials. */
export const USERNAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$/;

/** Characters. */
const MIN_PASSWORD_LENGTH = 12;
/** Characters. */
export const MAX_PASSWORD_LENGTH = 1024;

/** Returns what is wrong with a username, e.g. `must match …`; undefined for a valid one. */
export const usernameIssue = (username: string): string | undefined =>
  USERNAME_PATTERN.test(username) && !isUuid(username)
    ? undefined
    : 'must match ^[A-Za-z0-9][A-Za-z0-9_.@-]*$, have at most 100 characters and not have the form of a UUID';

/** Returns what is wrong with a user's password; undefined for a valid one. See docs/contract.md#passwords. */
export function passwordIssue(password: string, username: string): string | undefined {
  if (password.length < MIN_PASSWORD_LENGTH) return `must have at least ${MIN_PASSWORD_LENGTH} characters`;
  if (password.length > MAX_PASSWORD_LENGTH) return `must have at most ${MAX_PASSWORD_LENGTH} characters`;
  return password.toLowerCase() === username.toLowerCase() ? 'must not be the username' : undefined;
}
