import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';

/** Hashes that run at once: each takes 19 MiB and a core. */
const AT_ONCE = 2;
/** Who comes after so many others had better come again. */
const MAX_WAITING = 100;
/** Characters. */
const SHORTEST_PASSWORD = 12;
export const MAX_PASSWORD_LENGTH = 1024;
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (waiting.length >= MAX_WAITING)
    throw unavailable('Too many passwords are being checked at once', { headers: { 'retry-after': '5' } });
  if (running < AT_ONCE) running++;
  else await new Promise<void>((go) => waiting.push(go));
  try {
    return await work();
  } finally {
    // Whoever waits takes the place over.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** Argon2id with the parameters that OWASP asks for (the library's defaults: 19 MiB, 2 passes, 1 lane). */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password));

let decoy: Promise<string> | null = null;

/** Whether the password fits. Without a hash it takes just as long and says no, so that nobody learns which users exist. */
export async function verifyPassword(passwordHash: string | null | undefined, password: string): Promise<boolean> {
  const known = passwordHash ?? (await (decoy ??= hashPassword('nobody has this password')));
  const fits = await inTurn(() => verify(known, password.slice(0, MAX_PASSWORD_LENGTH)));
  return fits && passwordHash != null;
}

/** Refuses what is too short or the user's own name (contract 2). */
export function checkPassword(password: string, username: string): void {
  if (password.length < SHORTEST_PASSWORD)
    throw invalid('password', `must have at least ${SHORTEST_PASSWORD} characters`);
  if (password.length > MAX_PASSWORD_LENGTH)
    throw invalid('password', `must have at most ${MAX_PASSWORD_LENGTH} characters`);
  if (password.toLowerCase() === username.toLowerCase()) throw invalid('password', 'must not be the username');
}
