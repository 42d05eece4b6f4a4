import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';

/** File in `DATA_DIR` while a restore writes there. */
export const RESTORE_MARKER = 'restore-unfinished';
/** Comment of the schema `dws` while a restore writes into the database. */
const COMMENT = 'A restore of a backup has not finished';
const UNFINISHED =
  'A restore did not finish: run `dws restore` again. It first removes what the former one left in the database and in DATA_DIR';

type Database = Pick<pg.Client, 'query'>;

/** Throws if a killed restore left a part of an installation in `DATA_DIR`. */
export function checkFolderFinished(dataDir: string): void {
  if (existsSync(join(dataDir, RESTORE_MARKER))) throw new Error(UNFINISHED);
}

/** Throws if a killed restore left a part of an installation in the database. */
export async function checkDatabaseFinished(client: Database): Promise<void> {
  if (await isMarked(client)) throw new Error(UNFINISHED);
}

/** Marks database and folder until `unmark`, so that a start refuses what a killed restore leaves. */
export async function mark(client: Database, dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, RESTORE_MARKER), `${UNFINISHED}.\n`, { mode: 0o600 });
  await client.query(`begin; create schema dws; comment on schema dws is '${COMMENT}'; commit`);
}

/** Removes the marks of a restore that has finished. */
export async function unmark(client: Database, dataDir: string): Promise<void> {
  await client.query('comment on schema dws is null');
  await rm(join(dataDir, RESTORE_MARKER));
}

/** Removes what a restore that did not finish has written to the folder. */
export async function removeRestoredFiles(dataDir: string): Promise<void> {
  if (!existsSync(join(dataDir, RESTORE_MARKER))) return;
  for (const name of ['files', 'datasets', RESTORE_MARKER])
    await rm(join(dataDir, name), { recursive: true, force: true });
}

/** Removes what a restore that did not finish has written to the database. */
export async function removeRestoredRows(client: Database): Promise<void> {
  if (await isMarked(client)) await client.query('drop schema dws cascade');
}

async function isMarked(client: Database): Promise<boolean> {
  const { rows } = await client.query<{ comment: string | null }>(
    `select obj_description(oid, 'pg_namespace') as comment from pg_catalog.pg_namespace where nspname = 'dws'`,
  );
  return rows[0]?.comment === COMMENT;
}
