import { createHash } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { openAppWorkspaces } from '../../src/adapters/app-workspace/app-workspaces.ts';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { createSecretBox } from '../../src/adapters/secrets/secret-box.ts';
import {
  schemaNameOf,
  type AppWorkspaces,
  type MigrationFile,
  type WorkspaceKey,
} from '../../src/core/app-workspace.ts';
import { newId } from '../../src/core/id.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';

export const SECRET = 'a secret of the tests of workspaces';
const TENANT = newId();

/** Returns the key of a new app. */
export const newApp = (): WorkspaceKey => ({ tenantId: TENANT, appId: newId() });

/** Returns migrations by their names. */
export const migrationFiles = (files: Record<string, string | Uint8Array>): MigrationFile[] =>
  Object.entries(files).map(([filename, content]) => ({
    filename,
    checksum: createHash('sha256').update(content).digest('hex'),
    read: async () => Buffer.from(content),
  }));

export const never = new AbortController().signal;

/** Returns the URL of the apps' database that belongs to the database of a service. */
export const appsUrl = (url: string): string => url.replace(/\/([^/]+)$/, '/$1_apps');

/** Sets up workspaces for a database of the test file. */
export function useWorkspaces() {
  const own = {} as {
    database: TestDatabase;
    system: SystemPool;
    workspaces: AppWorkspaces;
    /** Opens the workspaces of another process. */
    open(secret?: string, quotaBytes?: number, memoryBytes?: number): AppWorkspaces;
    /** Creates the workspace of a new app, with the tables of a migration. */
    create(script?: string): Promise<WorkspaceKey>;
    run(key: WorkspaceKey, sql: string, params?: unknown[]): Promise<Record<string, unknown>[]>;
    migrate(key: WorkspaceKey, files: Record<string, string | Uint8Array>, dryRun?: boolean): Promise<string[]>;
    /** Runs SQL as superuser in the apps' database. */
    sql(text: string, values?: unknown[]): ReturnType<typeof runSql>;
  };
  const opened: AppWorkspaces[] = [];
  beforeAll(async () => {
    own.database = await createDatabase();
    own.system = new SystemPool(own.database.url);
    own.open = (secret = SECRET, quotaBytes = 0, memoryBytes = 0) => {
      const workspaces = openAppWorkspaces({
        databaseUrl: own.database.url,
        appsDatabaseUrl: undefined,
        system: own.system,
        secrets: createSecretBox(secret),
        installationId: 'tests',
        limitOf: async () => ({ quota: quotaBytes || Infinity, others: 0, refusal: null }),
        memoryBytes,
      });
      opened.push(workspaces);
      return workspaces;
    };
    own.workspaces = own.open();
    own.run = (key, sql, params = []) => own.workspaces.query(key, sql, params, never);
    own.migrate = (key, files, dryRun = false) =>
      own.workspaces.migrate(key, migrationFiles(files), { dryRun, signal: never });
    own.create = async (script = 'create table note (id integer primary key, text text)') => {
      const key = newApp();
      await own.workspaces.provision(key);
      await own.migrate(key, { '001.sql': script });
      return key;
    };
    own.sql = (text, values) => runSql(appsUrl(own.database.url), text, values);
  });
  afterAll(async () => {
    for (const one of opened) await one.close();
    await own.system.close();
    await own.database.drop();
  });
  return own;
}

/** Returns the SQLSTATE with which a statement fails, or what it returned. */
export const outcomeOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    (rows) => ({ rows }),
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

export const schemaOf = schemaNameOf;
