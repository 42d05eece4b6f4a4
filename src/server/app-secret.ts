import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecretBox } from '../adapters/secrets/secret-box.ts';
import type { Config } from '../core/config.ts';
import type { SecretBox } from '../core/platform.ts';

/** Returns the key ring: `APP_SECRET`, or the secret in `DATA_DIR`, which is generated on first use with mode 600. */
export function keyRing(appSecret: string | undefined, dataDir: string): string {
  if (appSecret) return appSecret;
  const file = secretFile(dataDir);
  if (!existsSync(file)) {
    // With `wx`, only one of two processes that start together writes the file.
    try {
      writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  chmodSync(file, 0o600);
  return readFileSync(file, 'utf8').trim();
}

/** Returns the file with the generated secret. */
export const secretFile = (dataDir: string): string => join(dataDir, 'secret');

/** Returns the box that opens sealed values; null if this installation has no key ring yet. Does not generate a key. */
export function existingSecretBox({ APP_SECRET, DATA_DIR }: Pick<Config, 'APP_SECRET' | 'DATA_DIR'>): SecretBox | null {
  return APP_SECRET || existsSync(secretFile(DATA_DIR)) ? createSecretBox(keyRing(APP_SECRET, DATA_DIR)) : null;
}
