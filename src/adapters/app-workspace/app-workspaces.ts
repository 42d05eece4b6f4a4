import pg from 'pg';
import {
  schemaNameOf,
  SqlFailure,
  type AppWorkspaces,
  type AppliedMigration,
  type WorkspaceDump,
  type WorkspaceKey,
  type WorkspaceLoad,
  type WorkspaceQuery,
  type WorkspaceState,
} from '../../core/app-workspace.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { SecretBox, SystemDatabase } from '../../core/platform.ts';
import { splitStatements } from '../../core/sql-statements.ts';
import { Admin } from './admin.ts';
import { passwordOf } from './role-password.ts';
import { runMigrations } from './run-migrations.ts';
import { workspaceServer } from './server-address.ts';
import { workspacesUnavailable } from './statement.ts';
import { openClient, sessionOptions } from './workspace-client.ts';
import { WorkspaceConnection } from './workspace-connection.ts';
import { beginLoad, openDump } from './workspace-copy.ts';
import { WorkspacePool } from './workspace-pool.ts';
import {
  createWorkspace,
  dropWorkspace,
  markedSchemas,
  MIGRATIONS_TABLE,
  rolesOf,
  setTimes,
} from './workspace-roles.ts';

interface WorkspaceOptions {
  /** The service's own database, beside which that of the apps is created. */
  databaseUrl: string;
  appsDatabaseUrl: string | undefined;
  system: SystemDatabase;
  secrets: Pick<SecretBox, 'digest'>;
  /** Identifies the installation among others on the same server. */
  installationId: string;
}

/** Why a login fails that worked before: its password or its rights changed, or it does not exist. */
const LOGIN_FAILED = new Set(['28P01', '28000', '42501', '3D000']);

/** Postgres has no larger rows. */
const MAX_COPIED_ROW_BYTES = 2 ** 30;

const noWorkspace = () => new SqlFailure('3F000', 'The app has no database schema: add a migration and run it');

/** Opens the workspaces of apps. Nothing is created or connected before it is needed. */
export function openAppWorkspaces(options: WorkspaceOptions): AppWorkspaces {
  return new Workspaces(options);
}

class Workspaces implements AppWorkspaces {
  readonly #server: ReturnType<typeof workspaceServer>;
  readonly #secrets: Pick<SecretBox, 'digest'>;
  readonly #admin: Admin;
  readonly #pool: WorkspacePool;
  /** Comment of the roles of this installation. */
  readonly #mark: string;

  constructor({ databaseUrl, appsDatabaseUrl, system, secrets, installationId }: WorkspaceOptions) {
    this.#server = workspaceServer(databaseUrl, appsDatabaseUrl);
    this.#secrets = secrets;
    this.#admin = new Admin(this.#server, system);
    this.#mark = `App of the Data Workspace Service ${installationId} in ${this.#server.database}`;
    this.#pool = new WorkspacePool({
      open: (role) => this.#open(role),
      terminate: (...one) => this.#terminate(...one),
    });
  }

  provision = (key: WorkspaceKey): Promise<void> => this.#provision(schemaNameOf(key));

  async #provision(schema: string): Promise<void> {
    await this.#admin.run((query) => createWorkspace(query, this.#secrets, schema, this.#mark), { create: true });
  }

  query: AppWorkspaces['query'] = (key, sql, params, signal, maxWaitMs) => {
    const run = async (connection: WorkspaceConnection) => {
      const rows = await connection.run(sql, params, signal);
      if (connection.isInTransaction)
        throw new SqlFailure('25001', 'A transaction is not possible here: use transaction()');
      return rows;
    };
    return this.#use(key, signal, run, maxWaitMs);
  };

  transaction: AppWorkspaces['transaction'] = (key, work, signal, maxWaitMs) => {
    const run = async (connection: WorkspaceConnection) => {
      let isOpen = true;
      const query: WorkspaceQuery = async (sql, params = []) => {
        if (!isOpen) throw new SqlFailure('25P01', 'The transaction has ended');
        const [command] = splitStatements(sql);
        if (command?.transactionCommand)
          throw new SqlFailure('2D000', `${command.transactionCommand} is not possible in a transaction`);
        return connection.run(sql, params, signal);
      };
      await connection.run('begin', [], signal);
      try {
        const result = await work(query);
        isOpen = false;
        // A failed transaction would be undone without an error.
        await connection.run('select', [], signal);
        await connection.run('commit', [], signal);
        return result;
      } finally {
        isOpen = false;
      }
    };
    return this.#use(key, signal, run, maxWaitMs);
  };

  migrate: AppWorkspaces['migrate'] = async (key, files, run) => {
    const schema = schemaNameOf(key);
    const { owner } = rolesOf(schema);
    const client = await this.#open(owner);
    const connection = new WorkspaceConnection(owner, client, (...one) => this.#terminate(...one));
    try {
      return await runMigrations(connection, schema, files, run);
    } finally {
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
    const client = await this.#open(role).catch((error: unknown) => {
      throw error instanceof SqlFailure ? upstreamFailed(error.message, { cause: error }) : error;
    });
    await client.end();
    const { host, port, ssl, database } = this.#server;
    return {
      config: { host, port, ssl, database, user: role, options: sessionOptions(role) },
      secrets: { password: passwordOf(this.#secrets, role) },
    };
  };

  async dump(key: WorkspaceKey): Promise<WorkspaceDump> {
    const schema = schemaNameOf(key);
    const client = await this.#open(rolesOf(schema).owner, MAX_COPIED_ROW_BYTES);
    return openDump(client, schema).catch(async (error: unknown) => {
      await client.end();
      throw error;
    });
  }

  async load(key: WorkspaceKey, state: WorkspaceState): Promise<WorkspaceLoad> {
    const schema = schemaNameOf(key);
    const client = await this.#open(rolesOf(schema).owner);
    const load = await beginLoad(client, schema, state).catch(async (error: unknown) => {
      await client.end();
      throw error;
    });
    return {
      ...load,
      finish: async () => {
        await load.finish();
        await this.#admin.run((query) => setTimes(query, schema, state.migrations));
      },
    };
  }

  remove = (key: WorkspaceKey): Promise<void> => this.#remove(schemaNameOf(key));

  async #remove(schema: string): Promise<void> {
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

  close(): Promise<void> {
    return this.#pool.close();
  }

  #use<T>(
    key: WorkspaceKey,
    signal: AbortSignal,
    task: (connection: WorkspaceConnection) => Promise<T>,
    maxWaitMs: number | undefined,
  ): Promise<T> {
    const caller = { tenantId: key.tenantId, userId: key.appId };
    return this.#pool.use(rolesOf(schemaNameOf(key)).rows, caller, signal, task, maxWaitMs);
  }

  /** Connects as the role of an app. Repairs the workspace first if the login fails. Throws `SqlFailure` without one. */
  async #open(role: string, maxMessageBytes?: number): Promise<pg.Client> {
    try {
      return await this.#login(role, maxMessageBytes);
    } catch (error) {
      if (!LOGIN_FAILED.has((error as { code?: string }).code ?? '')) throw workspacesUnavailable(error);
      if (!(await this.#repair(role.slice(0, 'app_'.length + 20)))) throw noWorkspace();
      return this.#login(role, maxMessageBytes).catch((again: unknown) => {
        throw workspacesUnavailable(again);
      });
    }
  }

  #login(role: string, maxMessageBytes?: number): Promise<pg.Client> {
    const { database } = this.#server;
    const searchPath = role.slice(0, 'app_'.length + 20);
    const password = passwordOf(this.#secrets, role);
    return openClient(this.#server, { user: role, password, database, searchPath }, maxMessageBytes);
  }

  /** Gives the roles of a workspace their passwords and rights again. Returns false if there is no workspace. */
  async #repair(schema: string): Promise<boolean> {
    const exists = await this.#admin.run(
      async (query) => (await query('select from pg_namespace where nspname = $1', [schema])).length > 0,
    );
    if (exists) await this.#provision(schema);
    return exists === true;
  }

  async #terminate(role: string, backend: number): Promise<void> {
    const client = await this.#open(role);
    try {
      await client.query('select pg_catalog.pg_terminate_backend($1)', [backend]);
    } finally {
      await client.end();
    }
  }
}
