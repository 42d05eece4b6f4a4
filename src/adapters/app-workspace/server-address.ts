import pg from 'pg';
import { unavailable } from '../../core/errors.ts';

/** How to connect to a server, without a role. */
export interface ServerAddress {
  host: string;
  port: number;
  ssl: pg.ClientConfig['ssl'];
}

/** The server of the apps' database, and the login that creates roles and schemas there. */
export interface WorkspaceServer extends ServerAddress {
  database: string;
  admin: Pick<pg.ClientConfig, 'user' | 'password'>;
  /**
   * Database from which the database of the apps is created; null if an operator has created it (`APPS_DATABASE_URL`).
   */
  createdFrom: string | null;
  /** Whether the service's own database is on the same server, by its address. */
  isShared: boolean;
}

/** Postgres cuts longer names. */
const MAX_NAME_BYTES = 63;
const SUFFIX = '_apps';

/**
 * Returns the server and database of the apps: the database of `APPS_DATABASE_URL`, by default `<database>_apps` on the
 * server of the service's own.
 */
export function workspaceServer(databaseUrl: string, appsDatabaseUrl: string | undefined): WorkspaceServer {
  // pg resolves options of the URL and the variables of libpq.
  const { host, port, ssl, user, password, database } = new pg.Client({
    connectionString: appsDatabaseUrl ?? databaseUrl,
  });
  const own = database ?? '';
  const service = new pg.Client({ connectionString: databaseUrl });
  return {
    host,
    port,
    ssl,
    admin: { ...(user && { user }), ...(password && { password }) },
    database: appsDatabaseUrl ? own : `${own}${SUFFIX}`,
    createdFrom: appsDatabaseUrl ? null : own,
    isShared: host === service.host && port === service.port,
  };
}

/** Throws UNAVAILABLE if Postgres would cut the name of the database. */
export function checkDatabaseName({ database }: WorkspaceServer): void {
  if (Buffer.byteLength(database) > MAX_NAME_BYTES)
    throw unavailable(
      `The name of the apps' database would be longer than ${MAX_NAME_BYTES} bytes: an operator must create a database ` +
        'and set APPS_DATABASE_URL',
    );
}
