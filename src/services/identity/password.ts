import { hash, verify } from '@node-rs/argon2';
import { MAX_PASSWORD_LENGTH, passwordIssue } from '../../core/account-rules.ts';
import { FairGate, callerAt } from '../../core/fair-gate.ts';
import { invalid } from '../../core/input-checks.ts';

/** Concurrent computations of hashes, shared by the addresses of clients. Each needs 19 MiB and a core. */
const HASH_GATE = FairGate.shared({ places: 2, maxWaiting: 100, taskNoun: 'passwords' });

/** Runs for a client at an address. The client may disconnect: the time must not depend on it. */
const runLimited = <T>(address: string, work: () => Promise<T>): Promise<T> =>
  HASH_GATE.run(callerAt(address), new AbortController().signal, work);

/**
 * Returns the Argon2id hash with the parameters that OWASP recommends: 19 MiB, 2 passes, parallelism 1. `address` is
 * the address of the client.
 */
export const hashPassword = (password: string, address = 'local'): Promise<string> =>
  runLimited(address, () => hash(password));

let decoyHash: Promise<string> | null = null;

/**
 * Returns whether the password matches the hash. Without a hash it returns false after the same time, so that the
 * response time does not reveal which users exist. `address` is the address of the client.
 */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
  address: string,
): Promise<boolean> {
  const compared = passwordHash ?? (await (decoyHash ??= hash('not the password of any user')));
  const matches = await runLimited(address, () => verify(compared, password.slice(0, MAX_PASSWORD_LENGTH)));
  return matches && passwordHash != null;
}

/**
 * Throws BAD_USER_INPUT if the password is too short, too long or the username. See docs/contract/access.md#passwords.
 */
export function checkPassword(password: string, username: string): void {
  const issue = passwordIssue(password, username);
  if (issue) throw invalid('password', issue);
}
