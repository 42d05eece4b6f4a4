import pg from 'pg';
import {
  schemaNameOf,
  SqlFailure,
  type AppWorkspaces,
  type AppliedMigration,
  type TableLimit,
  type WorkspaceDump,
  type WorkspaceInspection,
  type WorkspaceKey,
  type WorkspaceLoad,
  type WorkspaceState,
} from '../../core/app-workspace.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { SecretBox, SystemDatabase } from '../../core/platform.ts';
import { Admin } from './admin.ts';
import { runAlone, runTransaction } from './app-statements.ts';
import { openParts } from './catalog-privileges.ts';
import { passwordOf } from './role-password.ts';
import { compactPastQuota, runMigrations } from './run-migrations.ts';
import { workspaceServer } from './server-address.ts';
import { sessionOptions } from './workspace-client.ts';
import type { WorkspaceConnection } from './workspace-connection.ts';
import { openDump } from './workspace-dump.ts';
import { beginLoad, foreignKeysOf } from './workspace-load.ts';
import { noWorkspace, WorkspaceLogins } from './workspace-logins.ts';
import { WorkspacePool } from './workspace-pool.ts';
import { sizeOf, WorkspaceQuota } from './workspace-quota.ts';
import {
  createWorkspace,
  dropWorkspace,
  markedSchemas,
  MIGRATIONS_TABLE,
  rolesOf,
  setTimes,
  usedMarkOf,
} from './workspace-roles.ts';

interface WorkspaceOptions {
  /** The service's own database. The database of the apps is created on the same server. */
  databaseUrl: string;
  appsDatabaseUrl: string | undefined;
  system: SystemDatabase;
  secrets: Pick<SecretBox, 'digest'>;
  /** Identifies the installation among others on the same server. */
  installationId: string;
  /** Returns what the tables of an app may have now. Called before each statement. */
  limitOf(key: WorkspaceKey): Promise<TableLimit>;
  /** Bytes of memory that the statements of all apps may use together; 0: no limit. */
  memoryBytes: number;
}

/** Postgres has no larger rows. */
const MAX_COPIED_ROW_BYTES = 2 ** 30;

/** Opens the workspaces of apps. Nothing is created or connected before it is needed. */
export function openAppWorkspaces(options: WorkspaceOptions): AppWorkspaces {
  return new Workspaces(options);
}

async function closeOnError<T>(connection: WorkspaceConnection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await connection.close();
    throw error;
  }
}

class Workspaces implements AppWorkspaces {
  readonly #server: ReturnType<typeof workspaceServer>;
  readonly #secrets: Pick<SecretBox, 'digest'>;
  readonly #admin: Admin;
  readonly #logins: WorkspaceLogins;
  readonly #pool: WorkspacePool;
  readonly #quota: WorkspaceQuota;
  /** Comment of the roles of this installation. */
  readonly #mark: string;

  constructor({
    databaseUrl,
    appsDatabaseUrl,
    system,
    secrets,
    installationId,
    limitOf,
    memoryBytes,
  }: WorkspaceOptions) {
    this.#quota = new WorkspaceQuota(limitOf);
    this.#server = workspaceServer(databaseUrl, appsDatabaseUrl);
    this.#secrets = secrets;
    this.#admin = new Admin(this.#server, system);
    this.#mark = `App of the Data Workspace Service ${installationId} in ${this.#server.database}`;
    this.#logins = new WorkspaceLogins({
      server: this.#server,
      secrets,
      repair: (schema) => this.#repair(schema),
      memoryBytes,
    });
    this.#pool = new WorkspacePool({ open: (role) => this.#logins.openRows(role) });
  }

  provision = (key: WorkspaceKey): Promise<void> => this.#provision(schemaNameOf(key));

  async #provision(schema: string): Promise<void> {
    await this.#admin.run((query) => createWorkspace(query, this.#secrets, schema, this.#mark), { create: true });
  }

  otherUse: AppWorkspaces['otherUse'] = async (key) => {
    const mark = await this.#admin.run((query) => usedMarkOf(query, schemaNameOf(key)), { create: true });
    return mark == null || mark === this.#mark ? null : mark;
  };

  query: AppWorkspaces['query'] = (key, sql, params, signal, { maxWaitMs, readOnlyReason } = {}) => {
    const statement = { key, sql, params, signal, readOnlyReason };
    return this.#use(key, signal, (connection) => runAlone(connection, this.#quota, statement), maxWaitMs);
  };

  transaction: AppWorkspaces['transaction'] = (key, work, signal, { maxWaitMs, readOnlyReason } = {}) => {
    const options = { key, signal, readOnlyReason };
    return this.#use(key, signal, (connection) => runTransaction(connection, this.#quota, work, options), maxWaitMs);
  };

  sizeOf: AppWorkspaces['sizeOf'] = (key, signal) => this.#use(key, signal, (connection) => sizeOf(connection, signal));

  migrate: AppWorkspaces['migrate'] = async (key, files, run) => {
    const schema = schemaNameOf(key);
    const limit = await this.#quota.limitOf(key);
    const connection = await this.#logins.openOwner(schema);
    try {
      return await runMigrations(connection, files, { ...run, limit });
    } finally {
      await compactPastQuota(connection, this.#admin, limit.quota - limit.others, run.signal);
      this.#quota.forget(schema);
      await connection.close();
    }
  };

  async appliedMigrations(key: WorkspaceKey): Promise<AppliedMigration[]> {
    const table = `${pg.escapeIdentifier(schemaNameOf(key))}.${pg.escapeIdentifier(MIGRATIONS_TABLE)}`;
    const sql = `select filename, checksum, applied_at as "appliedAt", duration from ${table} order by filename`;
    try {
      const rows = await this.query(key, sql, [], new AbortController().signal);
      return rows.map((row) => ({
        ...(row as unknown as AppliedMigration),
        appliedAt: new Date(String(row['appliedAt'])),
      }));
    } catch (error) {
      if (error instanceof SqlFailure && error.code === noWorkspace().code) return [];
      throw error;
    }
  }

  locate: AppWorkspaces['locate'] = async (key) => {
    const { rows: role } = rolesOf(schemaNameOf(key));
    // The app may have changed the password of its role, which is then set again.
    const client = await this.#logins.open(role).catch((error: unknown) => {
      throw error instanceof SqlFailure ? upstreamFailed(error.message, { cause: error }) : error;
    });
    await client.end();
    const { host, port, ssl, database } = this.#server;
    return {
      config: { host, port, ssl, database, user: role, options: sessionOptions(role) },
      secrets: { password: passwordOf(this.#secrets, role) },
    };
  };

  watch: AppWorkspaces['watch'] = (connection, running) => this.#logins.watch(connection, running);

  async dump(key: WorkspaceKey, signal: AbortSignal): Promise<WorkspaceDump> {
    const schema = schemaNameOf(key);
    const connection = await this.#logins.openOwner(schema, MAX_COPIED_ROW_BYTES);
    return closeOnError(connection, () => openDump(connection, schema, signal));
  }

  async load(
    key: WorkspaceKey,
    { sequences, migrations }: WorkspaceState,
    signal: AbortSignal,
  ): Promise<WorkspaceLoad> {
    const schema = schemaNameOf(key);
    const keys = (await this.#admin.run((query) => foreignKeysOf(query, schema))) ?? [];
    const connection = await this.#logins.openOwner(schema);
    const load = await closeOnError(connection, () => beginLoad(connection, schema, { sequences, keys, signal }));
    return {
      ...load,
      finish: async () => {
        await load.finish();
        await this.#admin.run((query) => setTimes(query, schema, migrations));
      },
    };
  }

  remove = (key: WorkspaceKey): Promise<void> => this.#remove(schemaNameOf(key));

  async #remove(schema: string): Promise<void> {
    this.#quota.forget(schema);
    for (const role of Object.values(rolesOf(schema))) this.#pool.closeRole(role);
    await this.#admin.run((query) => dropWorkspace(query, schema));
  }

  sweep: AppWorkspaces['sweep'] = async (usedAmong) => {
    const schemas = (await this.#admin.run((query) => markedSchemas(query, this.#mark))) ?? [];
    if (schemas.length === 0) return [];
    const used = new Set(await usedAmong(schemas));
    const unused = schemas.filter((schema) => !used.has(schema));
    for (const schema of unused) await this.#remove(schema);
    return unused;
  };

  async inspect(): Promise<WorkspaceInspection> {
    const { login, found } = await this.#admin.inspect(async (query) => ({
      schemas: await markedSchemas(query, this.#mark),
      openParts: await openParts(query),
    }));
    return {
      database: this.#server.database,
      exists: found !== undefined,
      login,
      isShared: this.#server.isShared,
      schemas: [],
      openParts: [],
      ...found,
    };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #use<T>(
    key: WorkspaceKey,
    signal: AbortSignal,
    task: (connection: WorkspaceConnection) => Promise<T>,
    maxWaitMs?: number,
  ): Promise<T> {
    const caller = { tenantId: key.tenantId, userId: key.ownerId ?? key.appId, visitorId: key.visitorId };
    return this.#pool.use(rolesOf(schemaNameOf(key)).rows, caller, signal, task, maxWaitMs);
  }

  /** Sets the passwords and rights of a workspace's roles again. Returns false if the workspace does not exist. */
  async #repair(schema: string): Promise<boolean> {
    const exists = await this.#admin.run(
      async (query) => (await query('select from pg_namespace where nspname = $1', [schema])).length > 0,
    );
    if (exists) await this.#provision(schema);
    return exists === true;
  }
}
