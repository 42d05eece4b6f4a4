import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';

/** The user that Postgres runs as, given as spawn options: empty unless we are root, whom Postgres refuses. */
export type Account = { uid: number; gid: number } | Record<string, never>;

/**
 * Who may run the cluster: its owner when it exists, else `postgres`, else `nobody`. The user must be known by name, for initdb asks.
 * Throws a sentence when we are root and the machine knows neither.
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
  // macOS writes nobody as -2.
  return { uid: Number(user[2]) >>> 0, gid: Number(user[3]) >>> 0 };
}

/** Whether the account may enter the folder: a folder of root's home is closed to everybody else, whatever its own mode. */
export const canEnter = (account: Account, folder: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], { ...account, cwd: '/', stdio: 'ignore' }).status === 0;

/** Whether the account can run the program; the second value is what it said instead. */
export function canRun(account: Account, program: string): [boolean, string] {
  const { status, stderr, error } = spawnSync(program, ['--version'], { ...account, cwd: '/', encoding: 'utf8' });
  return [status === 0, stderr || String(error ?? '')];
}
