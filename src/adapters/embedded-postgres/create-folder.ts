import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents with this mode, regardless of the umask. `mkdirSync` with `recursive` never
 * ends below /proc, and reports a read-only file system as a missing folder.
 */
export function createFolder(path: string, mode: number): void {
  if (existsSync(path)) return;
  createFolder(dirname(path), mode);
  try {
    mkdirSync(path);
    chmodSync(path, mode);
  } catch (error) {
    // Another process may have created it at the same time.
    if (!existsSync(path)) throw error;
  }
}
