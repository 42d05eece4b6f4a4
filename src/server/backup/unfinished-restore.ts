import { existsSync, realpathSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

/** File in `DATA_DIR` while a restore writes there. */
export const RESTORE_MARKER = 'restore-unfinished';
/** Begins the comment of the schema `dws` while a restore writes into the database. The path of `DATA_DIR` follows. */
const COMMENT = 'A restore of a backup has not finished: it writes to ';
const UNFINISHED =
  'A restore did not finish: run `dws restore` again. It first removes what the former one left in the database and in DATA_DIR';

type Database = Pick<pg.Client, 'query'>;

/** Throws if a killed restore left a part of an installation in `DATA_DIR`. */
export function checkFolderFinished(dataDir: string): void {
  if (existsSync(join(dataDir, RESTORE_MARKER))) throw new Error(UNFINISHED);
}

/** Throws if a killed restore left a part of an installation in the database. */
export async function checkDatabaseFinished(client: Database): Promise<void> {
  if (isMark(await readComment(client))) throw new Error(UNFINISHED);
}

/** Marks database and folder until `unmark`, so that a start refuses the remains of a killed restore. */
export async function mark(client: Database, dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, RESTORE_MARKER), `${UNFINISHED}.\n`, { mode: 0o600 });
  const comment = pg.escapeLiteral(COMMENT + realpathSync(dataDir));
  await client.query(`begin; create schema dws; comment on schema dws is ${comment}; commit`);
}

/**
 * Removes the marks of a restore that has finished. It unmarks the database last, so a restore that is killed here
 * leaves a marked database that names its folder.
 */
export async function unmark(client: Database, dataDir: string): Promise<void> {
  await rm(join(dataDir, RESTORE_MARKER));
  await client.query('comment on schema dws is null');
}

/**
 * Removes the data that an unfinished restore has written to database and folder. An unmarked folder is emptied only if
 * the mark of the database names it, and no folder if the database has an installation that is not marked.
 */
export async function removeUnfinished(client: Database, dataDir: string): Promise<void> {
  const comment = await readComment(client);
  const isUnfinished = existsSync(join(dataDir, RESTORE_MARKER)) && (comment === undefined || isMark(comment));
  const isNamed = existsSync(dataDir) && comment === COMMENT + realpathSync(dataDir);
  if (isUnfinished || isNamed) await removeRestoredFiles(dataDir);
  await removeRestoredRows(client);
}

/** Removes files, dataset rows and mark of a restore from its folder. */
export async function removeRestoredFiles(dataDir: string): Promise<void> {
  for (const name of ['files', 'datasets', RESTORE_MARKER])
    await rm(join(dataDir, name), { recursive: true, force: true });
}

/** Removes the data that an unfinished restore has written to the database. */
export async function removeRestoredRows(client: Database): Promise<void> {
  if (isMark(await readComment(client))) await client.query('drop schema dws cascade');
}

const isMark = (comment: string | null | undefined): boolean => comment?.startsWith(COMMENT) ?? false;

/** Returns the comment of the schema `dws`; null if it has none, undefined if the schema does not exist. */
async function readComment(client: Database): Promise<string | null | undefined> {
  const { rows } = await client.query<{ comment: string | null }>(
    `select obj_description(oid, 'pg_namespace') as comment from pg_catalog.pg_namespace where nspname = 'dws'`,
  );
  return rows[0]?.comment;
}
