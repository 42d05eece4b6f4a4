import { usernameIssue } from '../../core/account-rules.ts';
import { invalid } from '../../core/input-checks.ts';

/** Returns the username. Throws BAD_USER_INPUT if it does not match the pattern or has the form of a UUID. */
export function checkUsername(username: string): string {
  const issue = usernameIssue(username);
  if (issue) throw invalid('username', issue);
  return username;
}
