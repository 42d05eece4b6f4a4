import { isUuid } from './id.ts';
import { PASSWORD_RULE, USERNAME_RULE, violation } from './input-rules.ts';

/** UTF-16 units of the longest password: longer ones are cut before they are compared. */
export const MAX_PASSWORD_LENGTH = 2 * PASSWORD_RULE.maxLength!;

/** Returns whether a text has the form of usernames and domains. See docs/contract.md#credentials. */
export const isAccountName = (text: string): boolean => violation(USERNAME_RULE, text) === undefined;

/** Returns what is wrong with a username, e.g. `must match …`; undefined for a valid one. */
export const usernameIssue = (username: string): string | undefined =>
  isAccountName(username) && !isUuid(username)
    ? undefined
    : `must match ${USERNAME_RULE.pattern}, have at most ${USERNAME_RULE.maxLength} characters and not have the form of a UUID`;

/** Returns whether a text has the form of an e-mail address. */
export const isEmailAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text);

/** Returns what is wrong with a user's password; undefined for a valid one. See docs/contract.md#passwords. */
export function passwordIssue(password: string, username: string): string | undefined {
  const issue = violation(PASSWORD_RULE, password);
  if (issue !== undefined) return issue;
  return password.toLowerCase() === username.toLowerCase() ? 'must not be the username' : undefined;
}
