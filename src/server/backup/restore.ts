import { existsSync, readdirSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { Config } from '../../core/config.ts';
import { quoteUpstream } from '../../core/outbound.ts';
import { existingSecretBox } from '../app-secret.ts';
import { migrate, MIGRATIONS } from '../migrate.ts';
import { reasonOf } from '../start-checks.ts';
import { TABLES, type BackupManifest, type BackupSummary } from './backup.ts';
import { checkColumnNames, checkRowsFile } from './check-datasets.ts';
import { checkForm, MANIFEST, MAX_ROWS_BYTES, quoteName, readBytes, readJson, unknownPart } from './entry-content.ts';
import { checkEnd } from './entry-digest.ts';
import { decompress, NO_BACKUP, readTar, type TarEntry } from './tar.ts';
import { mark, removeRestoredFiles, removeRestoredRows, removeUnfinished, unmark } from './unfinished-restore.ts';
import { WorkspaceRestore } from './workspace-restore.ts';

/** Names of the entries, so that no archive writes outside `DATA_DIR`. */
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ROWS_NAME = /^tables\/([a-z_]+)\/\d+\.ndjson$/;
const FILE_NAME = new RegExp(`^(files/${UUID}|datasets/${UUID}/rows\\.duckdb)$`);

/** A restored backup. */
export interface RestoreSummary extends BackupSummary {
  createdAt: string;
}

/** A backup whose first entry was read. The other entries can be read once. */
export interface Backup {
  manifest: BackupManifest;
  entries: AsyncGenerator<TarEntry>;
}

/** Opens a backup. Throws a sentence when it cannot be read, or is of a newer version. */
export async function openBackup(file: string): Promise<Backup> {
  const entries = readTar(decompress(file));
  try {
    return { manifest: await readManifest(entries), entries };
  } catch (error) {
    await entries.return(undefined);
    throw error;
  }
}

/**
 * Restores a backup into the empty database at `url` and the empty `DATA_DIR`. Throws if they are not empty. If a restore
 * fails or `signal` is aborted, both are empty again; after a killed one the next restore empties them. See
 * docs/contract/running.md#backups.
 */
export async function restoreBackup(
  url: string,
  config: Config,
  { manifest, entries }: Backup,
  signal: AbortSignal = new AbortController().signal,
): Promise<RestoreSummary> {
  const client = newClient(url);
  try {
    await client.connect();
    await removeUnfinished(client, config.DATA_DIR);
    await checkEmpty(client, config.DATA_DIR);
    try {
      await mark(client, config.DATA_DIR);
      await migrate(url, { last: manifest.migration });
      const summary = await restoreEntries(client, url, config, { manifest, entries }, signal);
      await migrate(url, {});
      signal.throwIfAborted();
      await unmark(client, config.DATA_DIR);
      return { ...summary, createdAt: manifest.createdAt };
    } catch (error) {
      // Ending the connection rolls back. It may be the connection that failed, so a new one is opened.
      await client.end();
      await removeRestored(url, config.DATA_DIR, error as Error);
      throw error;
    }
  } finally {
    await client.end();
    await entries.return(undefined);
  }
}

function newClient(url: string): pg.Client {
  const client = new pg.Client({ connectionString: url, application_name: 'dws restore' });
  // The query that needs the lost connection fails; without a listener the process would end.
  return client.on('error', () => undefined);
}

/**
 * Removes the data that a failed restore has written. Throws the cause of the failure if the database cannot be emptied
 * now.
 */
async function removeRestored(url: string, dataDir: string, { message }: Error): Promise<void> {
  await removeRestoredFiles(dataDir);
  const client = newClient(url);
  try {
    await client.connect();
    await removeRestoredRows(client);
  } catch (error) {
    throw new Error(`${message}. The next restore empties the database: ${reasonOf(error)}`, { cause: error });
  } finally {
    await client.end();
  }
}

async function checkEmpty(client: pg.Client, dataDir: string): Promise<void> {
  const { rowCount } = await client.query(`select from pg_catalog.pg_namespace where nspname = 'dws'`);
  const hasFiles = ['files', 'datasets'].some((name) => isFilled(join(dataDir, name)));
  if (rowCount || hasFiles) throw new Error('A backup is restored into an empty database and an empty DATA_DIR only');
}

const isFilled = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length > 0;

async function readManifest(entries: AsyncGenerator<TarEntry>): Promise<BackupManifest> {
  const { value: entry } = await entries.next();
  if (entry?.name !== 'backup.json') throw new Error(NO_BACKUP);
  const value = await readJson(entry);
  if (typeof value !== 'object' || value === null) throw new Error(NO_BACKUP);
  // The manifest of a newer version may have another form.
  const { format, migration } = value as Partial<BackupManifest>;
  if (format !== 1 || !MIGRATIONS.includes(migration ?? ''))
    throw new Error('The backup is of a newer version of the service: restore it with that version');
  return checkForm(entry.name, value, MANIFEST) as BackupManifest;
}

/**
 * Restores rows and files in one transaction, without triggers, foreign keys and row-level security, and the workspaces
 * of apps.
 */
async function restoreEntries(
  client: pg.Client,
  url: string,
  config: Config,
  { manifest, entries }: Backup,
  signal: AbortSignal,
): Promise<BackupSummary> {
  await client.query('begin');
  const rules = await suspendRules(client);
  const workspaces = new WorkspaceRestore(client, url, config, signal);
  const { failures } = workspaces;
  const summary: BackupSummary = { tables: rules.tables.size, files: 0, datasets: 0, failures };
  try {
    for await (const entry of manifest.hasEnd ? checkEnd(entries) : entries) {
      signal.throwIfAborted();
      const table = ROWS_NAME.exec(entry.name)?.[1];
      if (table && rules.tables.has(table)) await insertRows(client, table, entry);
      else if (FILE_NAME.test(entry.name)) {
        const path = join(config.DATA_DIR, entry.name);
        await writeFile(path, entry, signal);
        if (entry.name.startsWith('datasets/')) await checkRowsFile(entry.name, path);
        summary[entry.name.startsWith('files/') ? 'files' : 'datasets'] += 1;
      } else if (!(await workspaces.read(entry))) throw unknownPart(entry.name);
    }
    await checkColumnNames(client, rules.tables);
    await workspaces.finish();
    await rules.restore();
    await client.query('commit');
  } catch (error) {
    await workspaces.undo().catch(() => {});
    throw error;
  }
  return summary;
}

async function insertRows(client: pg.Client, table: string, entry: TarEntry): Promise<void> {
  const lines = (await readBytes(entry, MAX_ROWS_BYTES)).toString();
  const { rows } = await client.query<{ name: string }>({
    name: 'columns',
    text: `select quote_ident(attname) as name
      from pg_catalog.pg_attribute
      where attrelid = format('dws.%I', $1::text)::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    values: [table],
  });
  const columns = rows.map(({ name }) => name).join(', ');
  try {
    await client.query(
      `insert into dws.${table} (${columns}) overriding system value
        select ${columns} from json_populate_recordset(null::dws.${table}, $1::json)`,
      [`[${lines.replaceAll('\n', ',')}]`],
    );
  } catch (error) {
    // Messages about values contain them.
    if (!(error instanceof pg.DatabaseError)) throw error;
    const reason = quoteUpstream(error.message);
    throw new Error(`The part ${quoteName(entry.name)} of the backup cannot be restored: ${reason}`, { cause: error });
  }
}

/**
 * Empties all tables and suspends the rules that would refuse or change their rows. `restore` enables them again.
 */
async function suspendRules(client: pg.Client): Promise<{ tables: Set<string>; restore(): Promise<void> }> {
  const { rows: tables } = await client.query<{ name: string }>(TABLES);
  const { rows: forced } = await client.query<{ name: string }>(`select relname as name
    from pg_catalog.pg_class
    where relnamespace = 'dws'::regnamespace and relkind = 'r' and relforcerowsecurity`);
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(`select
      conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_catalog.pg_constraint
    where connamespace = 'dws'::regnamespace and contype = 'f' and conparentid = 0`);
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`);
  for (const { name } of tables) {
    await client.query(`alter table dws.${name} disable trigger user`);
    await client.query(`delete from dws.${name}`);
  }
  for (const { name } of forced) await client.query(`alter table dws.${name} no force row level security`);
  return {
    tables: new Set(tables.map(({ name }) => name)),
    async restore() {
      for (const { table, name, definition } of keys)
        await client.query(`alter table ${table} add constraint ${name} ${definition}`);
      for (const { name } of tables) await client.query(`alter table dws.${name} enable trigger user`);
      for (const { name } of forced) await client.query(`alter table dws.${name} force row level security`);
    },
  };
}

async function writeFile(path: string, { name, content }: TarEntry, signal?: AbortSignal): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new Error(`The backup has the part ${quoteName(name)} twice`, { cause: error });
  });
  try {
    for await (const part of content) {
      signal?.throwIfAborted();
      await handle.writeFile(part);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A key that a backup needs, and whether the key ring of this installation has it. */
export interface NeededKey {
  fingerprint: string;
  isPresent: boolean;
}

/** Returns the keys that the values of a backup need. Generates none. */
export function neededKeys(config: Config, { keyFingerprint, keys }: BackupManifest): NeededKey[] {
  const present = existingSecretBox(config)?.fingerprints ?? [];
  const needed = keys ?? (keyFingerprint === null ? [] : [keyFingerprint]);
  return needed.map((fingerprint) => ({ fingerprint, isPresent: present.includes(fingerprint) }));
}
