import pg from 'pg';
import type { Query } from '../../core/database.ts';
import { unavailable } from '../../core/errors.ts';
import { LOCKS } from '../../core/locks.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import { changePrivileges, hideDefinitions } from './catalog-privileges.ts';
import { checkDatabaseName, type WorkspaceServer } from './server-address.ts';
import { workspacesUnavailable } from './statement.ts';
import { openClient } from './workspace-client.ts';

const UNDEFINED_DATABASE = '3D000';
const NO_PRIVILEGE = '42501';
const EXISTS = new Set(['42P04', '23505']);

/** Runs one statement of the service, never of an app. */
export type AdminQuery = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

/** The rights of the service's login. */
export interface LoginRights {
  name: string;
  isSuperuser: boolean;
  mayCreateDatabases: boolean;
  mayCreateRoles: boolean;
  /** Whether it may limit the temporary files of statements of apps. */
  mayLimitTempFiles: boolean;
  /** Whether it may keep messages that apps raise out of the server's log. */
  mayLimitLog: boolean;
  /** Whether it owns the database of the apps, or may act as its owner; false without that database. */
  ownsDatabase: boolean;
}

/** Connects as the login that creates databases, roles and schemas. */
export class Admin {
  readonly #server: WorkspaceServer;
  readonly #system: SystemDatabase;
  /** Whether this process knows that the database exists and admits the roles of apps only. */
  #isPrepared = false;

  constructor(server: WorkspaceServer, system: SystemDatabase) {
    this.#server = server;
    this.#system = system;
  }

  /**
   * Runs work in the database of the apps, of all processes one at a time. Returns undefined without that database,
   * which `create` creates.
   */
  async run<T>(
    work: (query: AdminQuery) => Promise<T>,
    { create }: { create: boolean } = { create: false },
  ): Promise<T | undefined> {
    return this.#system.transaction(async (query) => {
      // In the service's own database, where no app can take it.
      await query({ text: 'select pg_advisory_xact_lock($1)', values: [LOCKS.appsDatabase] });
      const client =
        (await this.#connect(this.#server.database)) ?? (create ? await this.#createDatabase() : undefined);
      if (!client) return undefined;
      try {
        const run = queryOf(client);
        if (create && !this.#isPrepared) await this.#prepare(run);
        return await work(run);
      } catch (error) {
        throw await this.#translate(error, query);
      } finally {
        await client.end();
      }
    });
  }

  /**
   * Returns the rights of the login, and the result of `work` in the database of the apps: undefined without that
   * database. Changes nothing and waits for no other process.
   */
  async inspect<T>(work: (query: AdminQuery) => Promise<T>): Promise<{ login: LoginRights; found: T | undefined }> {
    const { database, createdFrom } = this.#server;
    const own = await this.#connect(database);
    const client = own ?? (createdFrom === null ? undefined : await this.#connect(createdFrom));
    if (!client) throw unavailable(`The database "${database}" of APPS_DATABASE_URL does not exist`);
    try {
      const query = queryOf(client);
      const [login] = await query(
        `select rolname as name, rolsuper as "isSuperuser", rolcreatedb as "mayCreateDatabases",
          rolcreaterole as "mayCreateRoles",
          has_parameter_privilege('temp_file_limit', 'set') as "mayLimitTempFiles",
          has_parameter_privilege('log_min_messages', 'set') as "mayLimitLog",
          exists (select from pg_database where datname = $1 and pg_has_role(current_user, datdba, 'USAGE'))
            as "ownsDatabase"
        from pg_roles where rolname = current_user`,
        [database],
      );
      return { login: login as unknown as LoginRights, found: own && (await work(query)) };
    } finally {
      await client.end();
    }
  }

  /** Returns a connection; undefined if the database does not exist. */
  async #connect(database: string): Promise<pg.Client | undefined> {
    try {
      return await openClient(this.#server, { ...this.#server.admin, database, searchPath: 'pg_catalog' });
    } catch (error) {
      if ((error as { code?: string }).code === UNDEFINED_DATABASE) return undefined;
      throw workspacesUnavailable(error);
    }
  }

  async #createDatabase(): Promise<pg.Client> {
    const { database, createdFrom } = this.#server;
    if (createdFrom === null) throw unavailable(`The database "${database}" of APPS_DATABASE_URL does not exist`);
    checkDatabaseName(this.#server);
    const client = await this.#connect(createdFrom);
    const statement = `create database ${pg.escapeIdentifier(database)}`;
    try {
      await client!.query(statement);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === NO_PRIVILEGE)
        throw unavailable(
          `The login of the service may not create the apps' database. An administrator must run: ` +
            `${statement} owner ${pg.escapeIdentifier(client!.user!)};`,
          { cause: error },
        );
      if (!EXISTS.has(code ?? '')) throw error;
    } finally {
      await client!.end();
    }
    return (await this.#connect(database))!;
  }

  /** Revokes the rights that only the roles of apps get from all roles, and refuses the service's own database. */
  async #prepare(query: AdminQuery): Promise<void> {
    const [own] = await query(`select from pg_namespace where nspname = 'dws'`);
    if (own) throw unavailable("APPS_DATABASE_URL must not name the service's own database");
    const [login] = await query('select rolsuper as "isSuperuser" from pg_roles where rolname = current_user');
    await changePrivileges(query, async () => {
      await query(`revoke all on database ${pg.escapeIdentifier(this.#server.database)} from public`);
      const [open] = await query(
        `select from pg_namespace where nspname = 'public' and has_schema_privilege('public', oid, 'create')`,
      );
      if (open) await query('revoke all on schema public from public');
      // Only superusers may change the rights on objects of Postgres.
      if (login!['isSuperuser']) await hideDefinitions(query);
    });
    this.#isPrepared = true;
  }

  /** Returns UNAVAILABLE with the SQL for an administrator if the login lacks a privilege. */
  async #translate(error: unknown, query: Query): Promise<unknown> {
    if ((error as { code?: string }).code !== NO_PRIVILEGE) return error;
    const [login] = await query<{ name: string }>({ text: 'select quote_ident(session_user) as name' });
    const { admin, database } = this.#server;
    const name = admin.user ? pg.escapeIdentifier(String(admin.user)) : login!.name;
    return unavailable(
      `The login of the service may not create workspaces of apps (${(error as Error).message}). An administrator must ` +
        `run: alter role ${name} createrole; alter database ${pg.escapeIdentifier(database)} owner to ${name};`,
      { cause: error },
    );
  }
}

const queryOf =
  (client: pg.Client): AdminQuery =>
  async (text, values) =>
    (await client.query<Record<string, unknown>>(text, values)).rows;
