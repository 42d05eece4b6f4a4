import { isUuid } from './id.ts';
import { PASSWORD_RULE, USERNAME_RULE, violation } from './input-rules.ts';
import { normalizeText } from './normalize-text.ts';

/** UTF-16 units of the longest password: longer ones are cut before they are compared. */
export const MAX_PASSWORD_LENGTH = 2 * PASSWORD_RULE.maxLength!;

/** Returns whether a text has the form of usernames and domains. See docs/contract/access.md#credentials. */
export const isAccountName = (text: string): boolean => violation(USERNAME_RULE, text) === undefined;

/** Returns the issue of a username, e.g. `must match …`; undefined for a valid one. */
export const usernameIssue = (username: string): string | undefined =>
  isAccountName(username) && !isUuid(username)
    ? undefined
    : `must match ${USERNAME_RULE.pattern}, have at most ${USERNAME_RULE.maxLength} characters and not have the form of a UUID`;

/** Space for numbers at the end of a username. */
const MAX_PLAIN_CHARACTERS = 90;
/** Highest number at the end of a username. */
const MAX_NUMBER = 1000;

/**
 * Returns a valid username for a name of another system: letters without accents, and hyphens for characters that
 * usernames cannot contain. A name that has only letters of other scripts becomes `user`.
 */
export function toUsername(name: string): string {
  const plain = normalizeText(name, 'NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\w.@-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|(?<!-)-+$/g, '')
    .replace(/(?<!-)-+@/g, '@')
    .slice(0, MAX_PLAIN_CHARACTERS);
  if (isUuid(plain)) return `user-${plain}`;
  return isAccountName(plain) ? plain : 'user';
}

/** Returns the usernames with a number, from 2, at the end or before the host of an e-mail address. */
export const numberedUsernames = (username: string): string[] =>
  Array.from({ length: MAX_NUMBER - 1 }, (_, index) => username.replace(/(?=@[^@]*$)|$/, `-${index + 2}`));

/** Returns whether a text has the form of an e-mail address. */
export const isEmailAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text);

/** Returns the issue of a user's password; undefined for a valid one. See docs/contract/access.md#passwords. */
export function passwordIssue(password: string, username: string): string | undefined {
  const issue = violation(PASSWORD_RULE, password);
  if (issue !== undefined) return issue;
  return password.toLowerCase() === username.toLowerCase() ? 'must not be the username' : undefined;
}
