import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';

/** The user that runs Postgres, as spawn options: empty unless this process is root, which Postgres refuses. */
export type Account = { uid: number; gid: number } | Record<string, never>;

/**
 * Returns the user for the cluster: its owner if it exists, else `postgres`, else `nobody`. The user must have a name,
 * which initdb looks up. Throws a sentence when this process is root and the machine has neither user.
 */
export function accountFor(cluster: string): Account {
  if (process.getuid?.() !== 0) return {};
  if (existsSync(cluster)) {
    const { uid, gid } = statSync(cluster);
    if (uid !== 0) return { uid, gid };
  }
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (!user)
    throw new Error(
      'Postgres does not run as root, and this machine has neither a user "postgres" nor "nobody" to run it',
    );
  // macOS writes `nobody` as -2.
  return { uid: Number(user[2]) >>> 0, gid: Number(user[3]) >>> 0 };
}

/**
 * Returns whether the account can enter the folder: a folder of root's home is closed to other users, regardless of its
 * own mode.
 */
export const canEnter = (account: Account, folder: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], { ...account, cwd: '/', stdio: 'ignore' }).status === 0;

/** Returns whether the account can run the program; the second value is its error output otherwise. */
export function canRun(account: Account, program: string): [boolean, string] {
  const { status, stderr, error } = spawnSync(program, ['--version'], { ...account, cwd: '/', encoding: 'utf8' });
  return [status === 0, stderr || String(error ?? '')];
}
