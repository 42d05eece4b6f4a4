import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { openAppWorkspaces } from '../../adapters/app-workspace/app-workspaces.ts';
import { SystemPool } from '../../adapters/database/system-pool.ts';
import { createSecretBox } from '../../adapters/secrets/secret-box.ts';
import type { AppWorkspaces, WorkspaceKey, WorkspaceLoad, WorkspaceState } from '../../core/app-workspace.ts';
import type { Config } from '../../core/config.ts';
import type { Query } from '../../core/database.ts';
import { loadMigrationFiles } from '../../services/app/app-migration.ts';
import { keyRing } from '../app-secret.ts';
import type { TarEntry } from './tar.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const NAME = new RegExp(`^apps/(${UUID})/(${UUID})/(?:state\\.json|(\\d+)/\\d+\\.ndjson)$`);

/** Rows of a table are written in entries of this size. */
const CHUNK_BYTES = 4_000_000;

/** Opens the workspaces of apps for a backup or a restore, while `client` has a transaction in the service's database. */
export async function openWorkspaces(
  client: pg.Client,
  url: string,
  { APP_SECRET, APPS_DATABASE_URL, DATA_DIR }: Config,
): Promise<{ workspaces: AppWorkspaces; close(): Promise<void> }> {
  const system = new SystemPool(url, 1);
  const { rows } = await client.query<{ value: string }>(`select value from dws.setting where name = 'installation'`);
  // Without the key, the roles get other passwords: the service sets them again.
  const hasKey = APP_SECRET || existsSync(join(DATA_DIR, 'secret'));
  const ring = hasKey ? keyRing(APP_SECRET, DATA_DIR) : randomBytes(32).toString('hex');
  const workspaces = openAppWorkspaces({
    databaseUrl: url,
    appsDatabaseUrl: APPS_DATABASE_URL,
    system,
    secrets: createSecretBox(ring),
    installationId: rows[0]?.value ?? '',
  });
  return {
    workspaces,
    async close() {
      await workspaces.close();
      await system.close();
    },
  };
}

/** Returns the apps with a workspace. */
export async function appsOf(client: pg.Client): Promise<WorkspaceKey[]> {
  const { rows } = await client.query<WorkspaceKey>(
    `select tenant_id as "tenantId", id as "appId" from dws.app where schema_name is not null order by id`,
  );
  return rows;
}

/** Yields the workspaces of apps: for each its state, then the rows of its tables, one JSON object per line. */
export async function* workspaceEntries(
  workspaces: AppWorkspaces,
  apps: readonly WorkspaceKey[],
): AsyncGenerator<TarEntry> {
  for (const key of apps) {
    const folder = `apps/${key.tenantId}/${key.appId}`;
    const { state, rowsOf, close } = await workspaces.dump(key);
    try {
      yield entryOf(`${folder}/state.json`, [JSON.stringify(state)]);
      for (const [index, table] of state.tables.entries()) yield* chunksOf(`${folder}/${index}`, rowsOf(table));
    } finally {
      await close();
    }
  }
}

async function* chunksOf(folder: string, rows: AsyncIterable<string>): AsyncGenerator<TarEntry> {
  let number = 0;
  let lines: string[] = [];
  let bytes = 0;
  const next = () => {
    const entry = entryOf(`${folder}/${String(++number).padStart(6, '0')}.ndjson`, lines);
    lines = [];
    bytes = 0;
    return entry;
  };
  for await (const row of rows) {
    lines.push(row);
    bytes += row.length;
    if (bytes >= CHUNK_BYTES) yield next();
  }
  if (lines.length > 0) yield next();
}

function entryOf(name: string, lines: string[]): TarEntry {
  const content = Buffer.from(lines.join('\n'));
  return { name, size: content.length, content: [content] };
}

/** Restores workspaces from the entries of an archive, in which those of one app follow each other. */
export class WorkspaceRestore {
  readonly #client: pg.Client;
  readonly #open: () => ReturnType<typeof openWorkspaces>;
  readonly #dataDir: string;
  #opened: Awaited<ReturnType<typeof openWorkspaces>> | undefined;
  #current: { state: WorkspaceState; load: WorkspaceLoad } | undefined;
  readonly #created: WorkspaceKey[] = [];

  /** `client` has a transaction with the restored rows of the service. */
  constructor(client: pg.Client, url: string, config: Config) {
    this.#client = client;
    this.#open = () => openWorkspaces(client, url, config);
    this.#dataDir = config.DATA_DIR;
  }

  /** Restores an entry. Returns false if it is none of a workspace. */
  async read(name: string, text: () => Promise<string>): Promise<boolean> {
    const [, tenantId, appId, table] = NAME.exec(name) ?? [];
    if (!tenantId || !appId) return false;
    if (table === undefined) await this.#begin({ tenantId, appId }, JSON.parse(await text()) as WorkspaceState);
    else {
      const { state, load } = this.#current!;
      await load.insert(state.tables[Number(table)]!, (await text()).split('\n'));
    }
    return true;
  }

  /** Creates the tables of a workspace by its migrations. */
  async #begin(key: WorkspaceKey, state: WorkspaceState): Promise<void> {
    await this.#finishLoad();
    const { workspaces } = (this.#opened ??= await this.#open());
    this.#created.push(key);
    await workspaces.provision(key);
    const applied = new Set(state.migrations.map(({ filename }) => filename));
    const query: Query = async ({ text, values }) => (await this.#client.query(text, values)).rows as never;
    const files = (await loadMigrationFiles(query, key.tenantId, key.appId))
      .filter(({ filename }) => applied.has(filename))
      .map(({ filename, fileId, sha256 }) => ({
        filename,
        checksum: sha256,
        read: () => readFile(join(this.#dataDir, 'files', fileId)),
      }));
    await workspaces.migrate(key, files, { dryRun: false, signal: new AbortController().signal });
    this.#current = { state, load: await workspaces.load(key, state) };
  }

  async #finishLoad(): Promise<void> {
    await this.#current?.load.finish();
    await this.#current?.load.close();
    this.#current = undefined;
  }

  /** Publishes the rows. */
  async finish(): Promise<void> {
    await this.#finishLoad();
    await this.#opened?.close();
  }

  /** Removes the workspaces that were created. */
  async undo(): Promise<void> {
    await this.#current?.load.close();
    for (const key of this.#created) await this.#opened?.workspaces.remove(key);
    await this.#opened?.close();
  }
}
