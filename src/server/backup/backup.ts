import { createReadStream } from 'node:fs';
import { mkdir, open, rm, stat, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import type { AppWorkspaces } from '../../core/app-workspace.ts';
import type { Config } from '../../core/config.ts';
import { countSealed } from '../../services/secrets/sealed-values.ts';
import { MIGRATIONS } from '../migrate.ts';
import { MAX_ROWS_BYTES } from './entry-content.ts';
import { END_NAME, EntryDigest } from './entry-digest.ts';
import { createLinksFolder, FileMissing, filesOf, linkFiles, removeLinksFolder, type LinkedFile } from './links.ts';
import { writeTar, type TarEntry } from './tar.ts';
import { appsOf, openWorkspaces, workspaceEntries, type AppFailure } from './workspaces.ts';

/** The first entry of an archive: what a restore checks before it writes anything. */
export interface BackupManifest {
  format: 1;
  createdAt: string;
  /** Name of the last migration of the database. */
  migration: string;
  /** Fingerprint of the newest key of `APP_SECRET`. The key itself is not in the archive. */
  keyFingerprint: string | null;
  /** Fingerprints of all keys with which its values are encrypted. Older versions did not write it. */
  keys?: string[];
  /** Whether the last entry describes the contents of the archive. Older versions did not write it. */
  hasEnd?: boolean;
}

/** The contents of a backup, for the console. */
export interface BackupSummary {
  tables: number;
  files: number;
  datasets: number;
  /** Apps whose tables are missing. */
  failures: AppFailure[];
}

/** Rows of a table are written in entries of this size, so that memory stays constant. */
const CHUNK_BYTES = 4_000_000;
/** A row can have 1 MB. */
const ROWS_PER_FETCH = 50;
/** Attempts to link all files of one snapshot. The janitor may delete a file between the snapshot and its link. */
const MAX_ATTEMPTS = 5;

/**
 * Writes a backup of the database at `url` and the files of `DATA_DIR` to `file`, mode 600, while the service may run.
 * All parts are of one moment: the database's snapshot, and links to the files that it names, which never change. Throws
 * if the file exists, and when `signal` is aborted; then nothing is left. See docs/contract/running.md#backups.
 */
export async function writeBackup(
  url: string,
  config: Config,
  file: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<BackupSummary> {
  const links = await createLinksFolder(config.DATA_DIR);
  try {
    const handle = await open(file, 'wx', 0o600);
    try {
      return await writeArchive(url, config, links, handle, signal);
    } catch (error) {
      await rm(file, { force: true });
      throw signal.aborted ? signal.reason : error;
    } finally {
      await handle.close();
    }
  } finally {
    await removeLinksFolder(links);
  }
}

async function writeArchive(
  url: string,
  config: Config,
  links: string,
  handle: FileHandle,
  signal: AbortSignal,
): Promise<BackupSummary> {
  const client = new pg.Client({ connectionString: url, application_name: 'dws backup' });
  // The query that needs the lost connection fails; without a listener the process would end.
  client.on('error', () => undefined);
  const summary: BackupSummary = { tables: 0, files: 0, datasets: 0, failures: [] };
  try {
    await client.connect();
    const linked = await openSnapshot(client, config, links, signal);
    const { workspaces, close } = await openWorkspaces(client, url, config);
    try {
      const entries = entriesOf(client, linked, workspaces, { summary, signal });
      await pipeline(
        Readable.from(writeTar(entries)),
        createGzip({ level: 1 }),
        handle.createWriteStream({ flush: true }),
        { signal },
      );
    } finally {
      await close();
    }
    return summary;
  } finally {
    await client.end();
  }
}

/** Begins a transaction on one snapshot, and links the files that it names. Returns the links. */
async function openSnapshot(
  client: pg.Client,
  config: Config,
  links: string,
  signal: AbortSignal,
): Promise<LinkedFile[]> {
  for (let attempt = 1; ; attempt++) {
    await client.query('begin transaction isolation level repeatable read read only');
    // Row-level security applies to the owner of the tables too.
    await client.query('set local role dws_system');
    try {
      return await linkFiles(await filesOf(client, config), links, signal);
    } catch (error) {
      if (!(error instanceof FileMissing) || attempt === MAX_ATTEMPTS) throw error;
      await client.query('rollback');
      await rm(links, { recursive: true });
      await mkdir(links);
    }
  }
}

async function* entriesOf(
  client: pg.Client,
  linked: LinkedFile[],
  workspaces: AppWorkspaces,
  { summary, signal }: { summary: BackupSummary; signal: AbortSignal },
): AsyncGenerator<TarEntry> {
  yield bytesEntry('backup.json', [JSON.stringify(await readManifest(client))]);
  const digest = new EntryDigest();
  for await (const entry of partsOf(client, linked, workspaces, { summary, signal })) yield digest.add(entry);
  yield bytesEntry(END_NAME, [JSON.stringify(digest.end())]);
}

/** Yields the entries with the contents of a backup. */
async function* partsOf(
  client: pg.Client,
  linked: LinkedFile[],
  workspaces: AppWorkspaces,
  { summary, signal }: { summary: BackupSummary; signal: AbortSignal },
): AsyncGenerator<TarEntry> {
  const { rows: tables } = await client.query<{ name: string }>(TABLES);
  for (const { name } of tables) {
    summary.tables += 1;
    yield* rowsOf(client, name);
  }
  const apps = await appsOf(client);
  // An open snapshot would keep deleted rows in all tables while the files are written.
  await client.query('commit');
  for (const { name, path } of linked) {
    summary[name.startsWith('files/') ? 'files' : 'datasets'] += 1;
    yield { name, size: (await stat(path)).size, content: createReadStream(path) as AsyncIterable<Uint8Array> };
    await rm(path);
  }
  // After the files, which contain the migrations.
  yield* workspaceEntries(workspaces, apps, summary.failures, signal);
}

/** Tables with data of the service. The applied migrations are left out: the restoring version has its own. */
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
  if (!migration || !MIGRATIONS.includes(migration))
    throw new Error('The database belongs to a newer version of the service: back it up with that version');
  const uses = await countSealed(async ({ text, values }) => (await client.query(text, values)).rows as never);
  return {
    format: 1,
    createdAt: new Date().toISOString(),
    migration,
    keyFingerprint: rows[0]?.value ?? null,
    keys: uses.map(({ fingerprint }) => fingerprint),
    hasEnd: true,
  };
}

/** Yields the rows of a table, one JSON object per line. */
async function* rowsOf(client: pg.Client, table: string): AsyncGenerator<TarEntry> {
  await client.query(`declare rows no scroll cursor for select row_to_json(t)::text as row from dws.${table} t`);
  let number = 0;
  let lines: string[] = [];
  let bytes = 0;
  const nextEntry = () => {
    const entry = bytesEntry(`tables/${table}/${String(++number).padStart(6, '0')}.ndjson`, lines);
    lines = [];
    bytes = 0;
    return entry;
  };
  for (;;) {
    const { rows } = await client.query<{ row: string }>(`fetch ${ROWS_PER_FETCH} from rows`);
    for (const { row } of rows) {
      lines.push(row);
      bytes += row.length;
      if (bytes >= CHUNK_BYTES) yield nextEntry();
    }
    if (rows.length === 0) break;
  }
  if (lines.length > 0) yield nextEntry();
  await client.query('close rows');
}

function bytesEntry(name: string, lines: string[]): TarEntry {
  const content = Buffer.from(lines.join('\n'));
  // A restore would refuse such a row.
  if (content.length > MAX_ROWS_BYTES) throw new Error(`A row is too large for a backup: see ${name}`);
  return { name, size: content.length, content: [content] };
}
