import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { PASSWORD_RULE, violation } from '../../core/input-rules.ts';

/** Hashes computed at once. Each needs 19 MiB and a core. */
const MAX_CONCURRENT_HASHES = 2;
/** Hashes waiting. Further ones are refused with 503. */
const MAX_QUEUED_HASHES = 100;
/** UTF-16 units of the longest password: longer ones are cut before they are compared. */
export const MAX_PASSWORD_LENGTH = 2 * PASSWORD_RULE.maxLength!;
let running = 0;
const queue: (() => void)[] = [];

async function runLimited<T>(work: () => Promise<T>): Promise<T> {
  if (queue.length >= MAX_QUEUED_HASHES)
    throw unavailable('Too many passwords are being checked at once', { headers: { 'retry-after': '5' } });
  if (running < MAX_CONCURRENT_HASHES) running++;
  else await new Promise<void>((resolve) => queue.push(resolve));
  try {
    return await work();
  } finally {
    // The next in the queue takes over the slot, so `running` stays unchanged.
    const next = queue.shift();
    if (next) next();
    else running--;
  }
}

/** Returns the Argon2id hash with the parameters that OWASP recommends: 19 MiB, 2 passes, parallelism 1. */
export const hashPassword = (password: string): Promise<string> => runLimited(() => hash(password));

let decoyHash: Promise<string> | null = null;

/**
 * Returns whether the password matches the hash. Without a hash it returns false after the same time, so that the
 * response time does not reveal which users exist.
 */
export async function verifyPassword(passwordHash: string | null | undefined, password: string): Promise<boolean> {
  const compared = passwordHash ?? (await (decoyHash ??= hashPassword('not the password of any user')));
  const matches = await runLimited(() => verify(compared, password.slice(0, MAX_PASSWORD_LENGTH)));
  return matches && passwordHash != null;
}

/** Throws BAD_USER_INPUT if the password is too short, too long or the username. See docs/contract.md#passwords. */
export function checkPassword(password: string, username: string): void {
  const problem = violation(PASSWORD_RULE, password);
  if (problem !== undefined) throw invalid('password', problem);
  if (password.toLowerCase() === username.toLowerCase()) throw invalid('password', 'must not be the username');
}
