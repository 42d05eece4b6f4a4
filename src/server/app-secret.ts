import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The key ring: `APP_SECRET`, or the one generated into `DATA_DIR` with mode 600. */
export function keyRing(given: string | undefined, dataDir: string): string {
  if (given) return given;
  const file = join(dataDir, 'secret');
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true });
    // `wx` so that of two processes that start at once one writes and the other reads.
    try {
      writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  chmodSync(file, 0o600);
  return readFileSync(file, 'utf8').trim();
}
