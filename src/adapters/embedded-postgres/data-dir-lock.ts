import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** `SQLITE_BUSY`: another connection holds the file. */
const BUSY = 5;

/**
 * Locks of this process by file. A lock must stay reachable: a collected `DatabaseSync` closes its file and releases
 * the lock.
 */
const held = new Map<string, DatabaseSync>();

/**
 * Locks `dataDir` for this process. Returns false when another process holds the lock. The lock is SQLite's lock on an
 * empty file, so the kernel releases it when the process ends, even by kill -9, and no stale lock remains.
 */
export function lockDataDir(dataDir: string): boolean {
  const file = join(dataDir, 'postgres.lock');
  const lock = new DatabaseSync(file);
  chmodSync(file, 0o600);
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    lock.close();
    if (isBusy(error)) return false;
    throw error;
  }
  held.set(file, lock);
  return true;
}

/** Releases `dataDir`. */
export function unlockDataDir(dataDir: string): void {
  const file = join(dataDir, 'postgres.lock');
  held.get(file)?.close();
  held.delete(file);
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === BUSY;
