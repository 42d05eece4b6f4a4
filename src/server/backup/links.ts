import { existsSync } from 'node:fs';
import { copyFile, link, mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import { ROWS, rowsFile } from '../../adapters/dataset-index/duckdb/generation-files.ts';
import type { Config } from '../../core/config.ts';
import { BACKUP_LINKS, removeOldBackupLinks } from '../data-dir.ts';

/** A file of the backup and its link. */
export interface LinkedFile {
  name: string;
  path: string;
}

/** A file that the database names is not in `DATA_DIR`. */
export class FileMissing extends Error {}

/** Removes the folder of a backup, and its parent when no other backup runs. */
export async function removeLinksFolder(links: string): Promise<void> {
  await rm(links, { recursive: true, force: true });
  await rmdir(dirname(links)).catch(() => undefined);
}

/** Creates the folder of this backup, and removes the folders of backups that were killed. */
export async function createLinksFolder(dataDir: string): Promise<string> {
  if (!existsSync(dataDir)) throw new Error(`DATA_DIR ${dataDir} does not exist: set it to the folder of the service`);
  removeOldBackupLinks(dataDir);
  await mkdir(join(dataDir, BACKUP_LINKS), { recursive: true, mode: 0o700 });
  return mkdtemp(join(dataDir, BACKUP_LINKS, 'backup-'));
}

/** A file that the database names, and the error if it is missing. */
interface NamedFile {
  name: string;
  source: string;
  missing: string;
}

/** Returns the files that the snapshot of a transaction names. */
export async function filesOf(client: pg.Client, { DATA_DIR, ELASTICSEARCH_URL }: Config): Promise<NamedFile[]> {
  const { rows: uploads } = await client.query<{ id: string; filename: string }>(
    'select id, filename from dws.stored_file order by id',
  );
  const { rows: generations } = await client.query<{ id: string; dataset: string }>(
    `select g.id, coalesce(d.name, g.dataset_id::text) as dataset
      from dws.generation g left join dws.dataset d on d.id = g.dataset_id order by g.id`,
  );
  const inDataDir = (name: string, source: string, what: string, remedy: string): NamedFile => ({
    name,
    source,
    missing: `${what} missing: there is no ${source}. Set DATA_DIR to the folder of the service; if it is, ${remedy}`,
  });
  const files = uploads.map(({ id, filename }) =>
    inDataDir(
      `files/${id}`,
      join(DATA_DIR, 'files', id),
      `The uploaded file "${filename}" is`,
      'delete its datasource or upload it again',
    ),
  );
  if (ELASTICSEARCH_URL) return files;
  const datasets = generations.map(({ id, dataset }) =>
    inDataDir(
      `datasets/${id}/${ROWS}`,
      rowsFile(join(DATA_DIR, 'datasets'), id),
      `The rows of dataset "${dataset}" are`,
      'refresh or delete the dataset',
    ),
  );
  return [...files, ...datasets];
}

/** Links the files into a folder. Throws `FileMissing`. */
export async function linkFiles(files: NamedFile[], links: string, signal?: AbortSignal): Promise<LinkedFile[]> {
  const linked: LinkedFile[] = [];
  for (const { name, source, missing } of files) {
    signal?.throwIfAborted();
    const path = join(links, String(linked.length));
    try {
      // File systems without hard links need copies.
      await link(source, path).catch((error: unknown) => {
        if (isMissing(error)) throw error;
        return copyFile(source, path);
      });
    } catch (error) {
      throw isMissing(error) ? new FileMissing(missing, { cause: error }) : error;
    }
    linked.push({ name, path });
  }
  return linked;
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
