import type pg from 'pg';
import { SqlFailure, type AppWorkspaces } from '../../core/app-workspace.ts';
import type { SecretBox } from '../../core/platform.ts';
import { MemoryWatch, type WatchedConnection } from './memory-watch.ts';
import { passwordOf } from './role-password.ts';
import type { WorkspaceServer } from './server-address.ts';
import { workspacesUnavailable } from './statement.ts';
import { openClient } from './workspace-client.ts';
import { WorkspaceConnection, type ConnectionServices } from './workspace-connection.ts';
import { rolesOf, schemaOfRole } from './workspace-roles.ts';

/** Why a login fails that worked before: its password or its rights changed, or it does not exist. */
const LOGIN_FAILED = new Set(['28P01', '28000', '42501', '3D000']);

/** Returns the error for an app without a workspace. */
export const noWorkspace = (): SqlFailure =>
  new SqlFailure('3F000', 'The app has no database schema: add a migration and run it');

interface LoginOptions {
  server: WorkspaceServer;
  secrets: Pick<SecretBox, 'digest'>;
  /** Sets the passwords and rights of a workspace's roles again. Returns false if the workspace does not exist. */
  repair(schema: string): Promise<boolean>;
  /** Bytes of memory that the statements of all apps may use together; 0: no limit. */
  memoryBytes: number;
}

/** Connects as the roles of apps. */
export class WorkspaceLogins {
  readonly #options: LoginOptions;
  readonly #services: ConnectionServices;

  constructor(options: LoginOptions) {
    this.#options = options;
    const terminate = this.#terminate.bind(this);
    this.#services = { terminate, memory: new MemoryWatch({ maxBytes: options.memoryBytes, terminate }) };
  }

  /** Connects as the role that reads and writes rows. The caller closes the connection. */
  async openRows(role: string): Promise<WorkspaceConnection> {
    return new WorkspaceConnection(role, await this.open(role), this.#services);
  }

  /** Connects as the role that owns the tables of a schema. The caller closes the connection. */
  async openOwner(schema: string, maxMessageBytes?: number): Promise<WorkspaceConnection> {
    const { owner } = rolesOf(schema);
    const client = await this.open(owner, maxMessageBytes);
    return new WorkspaceConnection(owner, client, this.#services);
  }

  /** Connects as the role of an app. Repairs the workspace first if the login fails. Throws `SqlFailure` without one. */
  async open(role: string, maxMessageBytes?: number): Promise<pg.Client> {
    try {
      return await this.#login(role, maxMessageBytes);
    } catch (error) {
      if (!LOGIN_FAILED.has((error as { code?: string }).code ?? '')) throw workspacesUnavailable(error);
      if (!(await this.#options.repair(schemaOfRole(role)))) throw noWorkspace();
      return this.#login(role, maxMessageBytes).catch((again: unknown) => {
        throw workspacesUnavailable(again);
      });
    }
  }

  #login(role: string, maxMessageBytes?: number): Promise<pg.Client> {
    const { server, secrets } = this.#options;
    const { database } = server;
    const password = passwordOf(secrets, role);
    return openClient(server, { user: role, password, database, searchPath: schemaOfRole(role) }, maxMessageBytes);
  }

  watch: AppWorkspaces['watch'] = async ({ role, backend }, running) => {
    const { memory, terminate } = this.#services;
    let excess: SqlFailure | undefined;
    const connection: WatchedConnection = {
      role,
      backend,
      end(reason) {
        excess = reason;
        terminate(role, backend).catch(() => {});
      },
    };
    memory.add(connection);
    try {
      return await memory.during(running);
    } catch (error) {
      throw excess ?? error;
    } finally {
      memory.remove(connection);
    }
  };

  /** Ends a connection of a role in the server. */
  async #terminate(role: string, backend: number): Promise<void> {
    const client = await this.open(role);
    try {
      await client.query('select pg_catalog.pg_terminate_backend($1)', [backend]);
    } finally {
      await client.end();
    }
  }
}
