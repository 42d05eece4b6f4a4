import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type {
  MigrationFile,
  WorkspaceKey,
  WorkspaceLoad,
  WorkspaceState,
  WorkspaceTable,
} from '../../core/app-workspace.ts';
import type { Config } from '../../core/config.ts';
import type { Query } from '../../core/database.ts';
import { loadMigrationFiles } from '../../services/app/app-migration.ts';
import { reasonOf } from '../start-checks.ts';
import { checkForm, FAILED, readJson, STATE } from './entry-content.ts';
import type { TarEntry } from './tar.ts';
import { openWorkspaces, startAppLimit, type AppFailure, type AppLimit } from './workspaces.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const NAME = new RegExp(`^apps/(${UUID})/(${UUID})/(?:(state|failed)\\.json|(\\d+)/\\d+\\.copy)$`);

/** The app whose entries are read. `load` is undefined after a failure: its other entries are skipped. */
interface CurrentApp {
  key: WorkspaceKey;
  state: WorkspaceState;
  limit: AppLimit;
  load: WorkspaceLoad | undefined;
}

const asyncIteratorOf = async function* (content: TarEntry['content']): AsyncGenerator<Uint8Array> {
  yield* content;
};

/** Restores workspaces from the entries of an archive. The entries of one app follow each other. */
export class WorkspaceRestore {
  readonly #client: pg.Client;
  readonly #open: () => ReturnType<typeof openWorkspaces>;
  readonly #dataDir: string;
  readonly #signal: AbortSignal;
  #opened: Awaited<ReturnType<typeof openWorkspaces>> | undefined;
  #current: CurrentApp | undefined;
  readonly #created: WorkspaceKey[] = [];
  /** The apps that have no workspace after the restore. */
  readonly failures: AppFailure[] = [];

  /** `client` has a transaction with the restored rows of the service. */
  constructor(client: pg.Client, url: string, config: Config, signal: AbortSignal) {
    this.#client = client;
    this.#open = () => openWorkspaces(client, url, config);
    this.#dataDir = config.DATA_DIR;
    this.#signal = signal;
  }

  /** Restores an entry. Returns false if it does not belong to a workspace. */
  async read(entry: TarEntry): Promise<boolean> {
    const [, tenantId, appId, kind, index] = NAME.exec(entry.name) ?? [];
    if (!tenantId || !appId) return false;
    const key = { tenantId, appId };
    if (kind === 'state') await this.#begin(key, checkForm(entry.name, await readJson(entry), STATE));
    else if (kind === 'failed') await this.#skip(key, checkForm(entry.name, await readJson(entry), FAILED).reason);
    else {
      const { key: current, state } = this.#current ?? {};
      const table = state?.tables[Number(index)];
      if (!table || current?.tenantId !== tenantId || current.appId !== appId) return false;
      await this.#insert(table, entry);
    }
    return true;
  }

  /** Inserts rows while they are read: one row may have a gigabyte. */
  async #insert(table: WorkspaceTable, { content }: TarEntry): Promise<void> {
    const parts = asyncIteratorOf(content);
    let failure: unknown;
    // Without `return`, so that the rest can be read after a failure of the app.
    const next = () =>
      parts.next().catch((error: unknown) => {
        failure = error;
        throw error;
      });
    const rows = { [Symbol.asyncIterator]: () => ({ next }) };
    await this.#attempt(async ({ load }) => load?.insert(table, rows));
    if (failure) throw failure as Error;
    for await (const _part of rows);
  }

  /** Creates the tables of a workspace by its migrations. */
  async #begin(key: WorkspaceKey, state: WorkspaceState): Promise<void> {
    await this.#finishLoad();
    const { workspaces } = (this.#opened ??= await this.#open());
    const other = await workspaces.otherUse(key);
    if (other !== null)
      throw new Error(
        `The Postgres server has the tables of these apps already (${other}): set APPS_DATABASE_URL to another server`,
      );
    const files = await this.#migrationFiles(key, state);
    this.#created.push(key);
    await workspaces.provision(key);
    const limit = startAppLimit(this.#signal);
    const { signal } = limit;
    this.#current = { key, state, limit, load: undefined };
    await this.#attempt(async (current) => {
      await workspaces.migrate(key, files, { dryRun: false, signal });
      current.load = await workspaces.load(key, state, signal);
    });
  }

  async #migrationFiles({ tenantId, appId }: WorkspaceKey, { migrations }: WorkspaceState): Promise<MigrationFile[]> {
    const applied = new Set(migrations.map(({ filename }) => filename));
    const query: Query = async ({ text, values }) => (await this.#client.query(text, values)).rows as never;
    return (await loadMigrationFiles(query, tenantId, appId))
      .filter(({ filename }) => applied.has(filename))
      .map(({ filename, fileId, sha256 }) => ({
        filename,
        checksum: sha256,
        read: () => readFile(join(this.#dataDir, 'files', fileId)),
      }));
  }

  /**
   * Runs a step that concerns only the current app. If it fails, the app gets no workspace, and the others are restored.
   */
  async #attempt(work: (current: CurrentApp) => Promise<void>): Promise<void> {
    const current = this.#current!;
    try {
      await work(current);
    } catch (error) {
      this.#signal.throwIfAborted();
      await this.#skip(current.key, reasonOf(error));
    }
  }

  /** Leaves an app without a workspace. Of several reasons, the first is reported. */
  async #skip(key: WorkspaceKey, reason: string): Promise<void> {
    const { appId } = key;
    const failure = { appId, reason };
    if (!this.failures.some((one) => one.appId === appId)) this.failures.push(failure);
    // The backup may have failed before the state of the app.
    if (this.#current?.key.appId !== appId) return this.#finishLoad();
    await this.#current.load?.close();
    this.#current.load = undefined;
    try {
      await this.#opened!.workspaces.remove(key);
    } catch (error) {
      failure.reason += `; what is there could not be removed: ${reasonOf(error)}`;
    }
  }

  async #finishLoad(): Promise<void> {
    if (!this.#current) return;
    await this.#attempt(async ({ load }) => load?.finish());
    await this.#endCurrent();
  }

  async #endCurrent(): Promise<void> {
    this.#current?.limit.end();
    await this.#current?.load?.close();
    this.#current = undefined;
  }

  /** Publishes the rows. */
  async finish(): Promise<void> {
    await this.#finishLoad();
    await this.#opened?.close();
  }

  /** Removes the workspaces that were created. */
  async undo(): Promise<void> {
    try {
      await this.#endCurrent();
      for (const key of this.#created) await this.#opened?.workspaces.remove(key);
    } finally {
      // An open connection would keep the process running.
      await this.#opened?.close();
    }
  }
}
