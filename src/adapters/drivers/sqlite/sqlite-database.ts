import { constants, DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ENGINE_MEMORY, MAX_RECORD_BYTES } from '../query-process/limits.ts';

/**
 * Permitted actions of a user's statement: reading. Not permitted: writing, ATTACH and VACUUM INTO (which open files),
 * PRAGMA, temporary tables, transactions. Full-text tables read `data_version` themselves.
 */
const ALLOWED = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);
const HARMLESS_PRAGMAS = new Set(['data_version']);
/** Functions that load code, write to the log or describe the library. */
const REFUSED_FUNCTIONS = new Set([
  'load_extension',
  'fts3_tokenizer',
  'sqlite_log',
  'sqlite_compileoption_get',
  'sqlite_compileoption_used',
  'sqlite_source_id',
  'fts5_source_id',
]);

/**
 * Sorts stay in memory, because files for them would be unlimited. The file's schema is not trusted with functions
 * that have side effects.
 */
const SETTINGS = `
  pragma hard_heap_limit = ${ENGINE_MEMORY}; pragma temp_store = memory; pragma mmap_size = 0; pragma cache_size = -32768;
  pragma trusted_schema = off; pragma cell_size_check = on; pragma query_only = on`;

/** Includes options of Node 24.21 that its published types lack. */
const OPTIONS: DatabaseSyncOptions & { defensive: boolean; limits: Record<string, number> } = {
  readOnly: true,
  allowExtension: false,
  defensive: true,
  enableDoubleQuotedStringLiterals: false,
  limits: { length: MAX_RECORD_BYTES, attach: 0, sqlLength: 1_000_000 },
};

/** Opens an immutable file: read-only, without locks, journals or shared memory. */
export function openDatabase(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  const database = new DatabaseSync(url, OPTIONS);
  database.exec(SETTINGS);
  return database;
}

/** Restricts the database to reading from now on. */
export function guard(database: DatabaseSync): void {
  database.setAuthorizer((action, what, name) => {
    const allowed =
      action === constants.SQLITE_PRAGMA
        ? HARMLESS_PRAGMAS.has(what ?? '')
        : ALLOWED.has(action) && !(action === constants.SQLITE_FUNCTION && REFUSED_FUNCTIONS.has(name ?? ''));
    return allowed ? constants.SQLITE_OK : constants.SQLITE_DENY;
  });
}
