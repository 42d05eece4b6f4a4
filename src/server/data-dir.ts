import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { createFolder } from '../adapters/embedded-postgres/create-folder.ts';
import { readRecord } from '../adapters/embedded-postgres/record.ts';
import { RESTORE_MARKER } from './backup/unfinished-restore.ts';

/** Folder in `DATA_DIR` with a folder of links for each running backup. */
export const BACKUP_LINKS = 'backup-links';
/** A running backup changes its folder whenever a file is written. */
const MAX_BACKUP_AGE_MS = 24 * 60 * 60 * 1000;

/** Files and folders that the service itself creates in `DATA_DIR`. It does not touch others, e.g. programs of Postgres. */
const OWN_NAMES = [
  'datasets',
  'staging',
  'files',
  'secret',
  'postgres.json',
  'postgres.lock',
  'postgres.log',
  'postgres.log.old',
  BACKUP_LINKS,
  RESTORE_MARKER,
];

/** Folders that a mistake may name, and whose modes must not change. */
const SHARED = ['/', '/tmp', '/var/tmp', tmpdir()].flatMap((path) =>
  existsSync(path) ? [path, realpathSync(path)] : [path],
);

/** A file or folder whose mode gives other users more access than intended. */
interface WrongMode {
  path: string;
  mode: number;
  intended: number;
}

/**
 * Returns the real path of `DATA_DIR` and creates it if missing. `startsPostgres` says that this process runs the
 * embedded Postgres. Throws an error that names `DATA_DIR` and a remedy.
 */
export function openDataDir(dataDir: string, startsPostgres: boolean): string {
  try {
    createFolder(dataDir, needsPassage(dataDir, startsPostgres) ? 0o711 : 0o700);
    const folder = realpathSync(dataDir);
    if (!statSync(folder).isDirectory()) throw new Error(`DATA_DIR ${folder} is not a folder: choose another one`);
    if (SHARED.includes(folder))
      throw new Error(`DATA_DIR ${folder} is shared with other programs: choose a folder for this service alone`);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return folder;
  } catch (error) {
    throw toStartError(error, dataDir);
  }
}

/**
 * Restricts all that the service created in `DATA_DIR` to its own user, which earlier starts may have created with
 * wider modes. The process's umask restricts new files. Files of another owner stay as they are; `dws doctor` names them.
 */
export function protectDataDir(folder: string, startsPostgres: boolean): void {
  for (const { path, intended } of wrongModes(folder, startsPostgres))
    try {
      chmodSync(path, intended);
    } catch (error) {
      // Another process has removed the file, or it has another owner, or its file system has fixed modes.
      if (!['ENOENT', 'EPERM', 'ENOTSUP', 'EROFS'].includes(codeOf(error))) throw error;
    }
}

/** Removes the links of backups that were killed: nothing has changed in their folders for a day. */
export function removeOldBackupLinks(folder: string): void {
  const parent = join(folder, BACKUP_LINKS);
  try {
    for (const name of namesIn(parent)) {
      const path = join(parent, name);
      const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
      if (changedAt < Date.now() - MAX_BACKUP_AGE_MS) rmSync(path, { recursive: true, force: true });
    }
  } catch (error) {
    // They belong to another user. No reason to refuse a start.
    if (!['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))) throw error;
  }
}

/**
 * Yields files and folders that other users have too much access to, contents before their folder. Contents of a folder
 * that is closed to them are skipped, because no other user can reach them.
 */
export function* wrongModes(folder: string, startsPostgres: boolean): Generator<WrongMode> {
  for (const name of OWN_NAMES) yield* openPaths(join(folder, name));
  const cluster = join(folder, 'postgres');
  const mode = modeOf(cluster);
  if (mode !== undefined && mode & 0o077) yield { path: cluster, mode, intended: 0o700 };
  const intended = needsPassage(folder, startsPostgres) ? 0o711 : 0o700;
  const own = modeOf(folder)!;
  if (own !== intended) yield { path: folder, mode: own, intended };
}

function* openPaths(path: string): Generator<WrongMode> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isSymbolicLink() || !(stats.mode & 0o077)) return;
  if (stats.isDirectory()) for (const name of namesIn(path)) yield* openPaths(join(path, name));
  yield { path, mode: stats.mode & 0o777, intended: stats.isDirectory() ? 0o700 : 0o600 };
}

/** Returns the names in a folder; none if it was removed in the meantime. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

const modeOf = (path: string): number | undefined => {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return stats && stats.mode & 0o777;
};

/** Returns whether another user runs Postgres in the folder and must be able to pass through it. */
function needsPassage(folder: string, startsPostgres: boolean): boolean {
  const record = existsSync(join(folder, 'postgres.json')) ? readRecord(folder) : undefined;
  const cluster = record && statSync(record.cluster, { throwIfNoEntry: false });
  if (!record || !cluster) return startsPostgres && process.getuid?.() === 0;
  const isInside = record.cluster.startsWith(`${realpathSync(folder)}${sep}`);
  return isInside && cluster.uid !== statSync(join(folder, 'postgres.json')).uid;
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

/** Returns the error of the start for a folder that cannot be created or written. */
function toStartError(error: unknown, folder: string): unknown {
  const forbidden = ownedByOther(folder)
    ? 'belongs to another user: start as that one, or'
    : 'is not writable for this user:';
  const reasons: Record<string, string> = {
    EROFS: 'is on a read-only file system:',
    ENOENT: 'cannot be created:',
    ENOSPC: 'is on a full disk:',
    EEXIST: 'is not a folder:',
    ENOTDIR: 'is not a folder:',
    EACCES: forbidden,
    EPERM: forbidden,
  };
  const reason = reasons[codeOf(error)];
  return reason ? new Error(`DATA_DIR ${folder} ${reason} choose another one`, { cause: error }) : error;
}

function ownedByOther(folder: string): boolean {
  try {
    return statSync(folder).uid !== process.getuid?.();
  } catch {
    return false;
  }
}
