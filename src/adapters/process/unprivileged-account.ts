import { readFileSync } from 'node:fs';

/** Id of `nobody` on Linux, for machines whose list of users lacks it. */
const UNPRIVILEGED_ID = 65_534;

/** Returns the account without rights (`nobody`) for child processes of root; undefined if this process is not root. */
export function unprivilegedAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody');
  // macOS writes the id as -2.
  return user
    ? { uid: Number(user[2]) >>> 0, gid: Number(user[3]) >>> 0 }
    : { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID };
}
