import { createReadStream } from 'node:fs';
import { copyFile, link, mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { ROWS, rowsFile } from '../../adapters/dataset-index/duckdb/generation-files.ts';
import type { Config } from '../../core/config.ts';
import { MIGRATIONS } from '../migrate.ts';
import { writeTar, type TarEntry } from './tar.ts';

/** The first entry of an archive: what a restore checks before it writes anything. */
export interface BackupManifest {
  format: 1;
  createdAt: string;
  /** Name of the last migration of the database. */
  migration: string;
  /** Fingerprint of the newest key of `APP_SECRET`. The key itself is not in the archive. */
  keyFingerprint: string | null;
}

/** What a backup contains, for the console. */
export interface BackupSummary {
  tables: number;
  files: number;
  datasets: number;
}

/** Rows of a table are written in entries of this size, so that memory stays constant. */
const CHUNK_BYTES = 4_000_000;
const ROWS_PER_FETCH = 500;
/** Attempts to link all files of one snapshot. The janitor may delete a file between the snapshot and its link. */
const MAX_ATTEMPTS = 5;

/**
 * Writes a backup of the database at `url` and the files of `DATA_DIR` to `file`, mode 600, while the service may run.
 * All parts are of one moment: the database's snapshot, and links to the files that it names, which never change. Throws
 * if the file exists. See docs/contract.md#backups.
 */
export async function writeBackup(url: string, config: Config, file: string): Promise<BackupSummary> {
  const handle = await open(file, 'wx', 0o600);
  const client = new pg.Client({ connectionString: url, application_name: 'dws backup' });
  const links = await mkdtemp(join(config.DATA_DIR, 'backup-'));
  const summary: BackupSummary = { tables: 0, files: 0, datasets: 0 };
  try {
    await client.connect();
    const linked = await openSnapshot(client, config, links);
    const entries = entriesOf(client, linked, summary);
    await pipeline(
      Readable.from(writeTar(entries)),
      createGzip({ level: 1 }),
      handle.createWriteStream({ flush: true }),
    );
    return summary;
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await client.end();
    await handle.close();
    await rm(links, { recursive: true, force: true });
  }
}

/** A file of the backup and its link. */
interface LinkedFile {
  name: string;
  path: string;
}

/** Begins a transaction on one snapshot, and links the files that it names. Returns the links. */
async function openSnapshot(client: pg.Client, config: Config, links: string): Promise<LinkedFile[]> {
  for (let attempt = 1; ; attempt++) {
    await client.query('begin transaction isolation level repeatable read read only');
    // Row-level security applies to the owner of the tables too.
    await client.query('set local role dws_system');
    try {
      return await linkFiles(client, config, links);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === MAX_ATTEMPTS) throw error;
      await client.query('rollback');
      await rm(links, { recursive: true });
      await mkdir(links);
    }
  }
}

async function linkFiles(
  client: pg.Client,
  { DATA_DIR, ELASTICSEARCH_URL }: Config,
  links: string,
): Promise<LinkedFile[]> {
  const idsOf = async (table: string) =>
    (await client.query<{ id: string }>(`select id from dws.${table} order by id`)).rows.map(({ id }) => id);
  const sources: [name: string, path: string][] = [];
  for (const id of await idsOf('stored_file')) sources.push([`files/${id}`, join(DATA_DIR, 'files', id)]);
  if (!ELASTICSEARCH_URL)
    for (const id of await idsOf('generation'))
      sources.push([`datasets/${id}/${ROWS}`, rowsFile(join(DATA_DIR, 'datasets'), id)]);
  const linked: LinkedFile[] = [];
  for (const [name, source] of sources) {
    const path = join(links, String(linked.length));
    await link(source, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw error;
      await copyFile(source, path);
    });
    linked.push({ name, path });
  }
  return linked;
}

async function* entriesOf(client: pg.Client, linked: LinkedFile[], summary: BackupSummary): AsyncGenerator<TarEntry> {
  yield bytesEntry('backup.json', [JSON.stringify(await readManifest(client))]);
  const { rows: tables } = await client.query<{ name: string }>(TABLES);
  for (const { name } of tables) {
    summary.tables += 1;
    yield* rowsOf(client, name);
  }
  for (const { name, path } of linked) {
    summary[name.startsWith('files/') ? 'files' : 'datasets'] += 1;
    yield { name, size: (await stat(path)).size, content: createReadStream(path) as AsyncIterable<Uint8Array> };
  }
}

/** Tables with data of the service. The applied migrations are those of the restoring version. */
export const TABLES = `select relname as name
  from pg_catalog.pg_class
  where relnamespace = 'dws'::regnamespace and relkind = 'r' and relname <> 'migration'
  order by relname`;

async function readManifest(client: pg.Client): Promise<BackupManifest> {
  const { rows } = await client.query<{ value: string }>(`select value from dws.setting where name = 'key'`);
  // The role of the snapshot cannot read the table of migrations.
  await client.query('reset role');
  const { rows: applied } = await client.query<{ name: string }>(
    'select name from dws.migration order by name desc limit 1',
  );
  await client.query('set local role dws_system');
  const migration = applied[0]?.name;
  if (!migration || !MIGRATIONS.some(({ name }) => name === migration))
    throw new Error('The database belongs to a newer version of the service: back it up with that version');
  return { format: 1, createdAt: new Date().toISOString(), migration, keyFingerprint: rows[0]?.value ?? null };
}

/** Yields the rows of a table, one JSON object per line. */
async function* rowsOf(client: pg.Client, table: string): AsyncGenerator<TarEntry> {
  await client.query(`declare rows no scroll cursor for select row_to_json(t)::text as row from dws.${table} t`);
  let lines: string[] = [];
  let bytes = 0;
  let number = 0;
  for (;;) {
    const { rows } = await client.query<{ row: string }>(`fetch ${ROWS_PER_FETCH} from rows`);
    for (const { row } of rows) {
      lines.push(row);
      bytes += row.length;
    }
    if (lines.length > 0 && (bytes >= CHUNK_BYTES || rows.length === 0)) {
      yield bytesEntry(`tables/${table}/${String(++number).padStart(6, '0')}.ndjson`, lines);
      lines = [];
      bytes = 0;
    }
    if (rows.length === 0) break;
  }
  await client.query('close rows');
}

function bytesEntry(name: string, lines: string[]): TarEntry {
  const content = Buffer.from(lines.join('\n'));
  return { name, size: content.length, content: [content] };
}
