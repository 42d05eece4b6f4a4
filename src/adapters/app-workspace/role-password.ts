import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { SecretBox } from '../../core/platform.ts';

/** Returns the password of a role: the same in all processes, and known only with `APP_SECRET`. */
export const passwordOf = (secrets: Pick<SecretBox, 'digest'>, role: string): string =>
  secrets.digest(`password of the role ${role}`);

/** The passwords are random, so that more iterations would only cost time. Postgres uses the same number. */
const ITERATIONS = 4096;

/**
 * Returns the form of a password that Postgres stores for SCRAM-SHA-256, so that no log of statements contains the
 * password.
 */
export function scramVerifier(password: string, salt = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
