import pg from 'pg';
import type { Submittable } from 'pg';
import { isLoginOfApp } from '../../../core/app-workspace.ts';
import { badInput } from '../../../core/errors.ts';
import { guardWire } from '../../database/wire-guard.ts';
import type { ServerTarget } from '../server-config.ts';
import { connectFailure } from '../server-error.ts';
import { CONNECT_TIMEOUT, runSession, endGracefully, type WorkLimits } from '../server-session.ts';
import { DATABASE_IDENTITY_SQL, guardedSocket, type DatabaseIdentity } from '../source-guard.ts';
import { ParseOnly, type ParsedStatement } from './parse-only.ts';
import { statementFailure } from './statement-error.ts';

const UNDEFINED_FUNCTION = '42883';

/** Settings of every session: one format of values, read-only, independent of the role's settings. */
const sessionSettings = (timeout: number) => `
  set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set extra_float_digits = 1;
  set standard_conforming_strings = on;
  set default_transaction_read_only = on;
  set statement_timeout = ${Math.max(1, Math.round(timeout))};
  select pg_catalog.pg_backend_pid() as pid, session_user as login`;

/** Lets pg return values as the text that Postgres wrote. */
export const asText: pg.CustomTypesConfig = { getTypeParser: () => (value: string) => value };

/** One connection to a source, for one task. It ends when the task ends, its signal aborts or its time is over. */
export class Session {
  readonly #client: pg.Client;
  /** Aborted by the caller or by the time limit. */
  readonly signal: AbortSignal;

  constructor(client: pg.Client, signal: AbortSignal) {
    this.#client = client;
    this.signal = signal;
  }

  /** Process id of the connection in the source. */
  get backend(): number {
    return (this.#client as unknown as { processID: number }).processID;
  }

  /** Runs SQL of the service (never a user's bare text) and returns its rows as texts by column name. */
  async query<R extends Record<string, string | null>>(text: string, values: (string | null)[] = []): Promise<R[]> {
    const { rows } = await this.#client.query<R>({ text, values, types: asText } as pg.QueryConfig);
    return rows;
  }

  /** Submits an exchange of the protocol to the client. */
  submit<T extends Submittable>(conversation: T): T {
    return this.#client.query(conversation);
  }

  /** Parses one statement in the source without running it. A second statement in the text is refused. */
  parse(text: string, parameterTypes: number[] = []): Promise<ParsedStatement> {
    return this.submit(new ParseOnly(text, parameterTypes)).result;
  }
}

function createClient(target: ServerTarget): pg.Client {
  const client = new pg.Client({
    host: target.host,
    port: target.port,
    database: target.database,
    user: target.user,
    // A function, because with an empty string pg would read PGPASSWORD and ~/.pgpass of the service.
    password: () => target.password,
    ...(target.operated
      ? { ssl: target.operated.tls, options: target.operated.options }
      : {
          ssl: target.ssl === 'disable' ? false : { rejectUnauthorized: target.ssl === 'verify-full', ca: target.ca },
          stream: guardedSocket,
        }),
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true,
    application_name: 'data-workspace-service',
  });
  // A lost connection is reported to the pending request; the unhandled event would end the process.
  client.on('error', () => {});
  guardWire(client.connection);
  return client;
}

async function refuseOwnDatabase(client: pg.Client, own: DatabaseIdentity): Promise<void> {
  const identity = await client
    .query<DatabaseIdentity & pg.QueryResultRow>(DATABASE_IDENTITY_SQL)
    .catch((error: unknown) => {
      // Servers that only implement Postgres' protocol lack this function, and are not the service's own database.
      if (error instanceof pg.DatabaseError && error.code === UNDEFINED_FUNCTION) return null;
      throw error;
    });
  const found = identity?.rows[0];
  if (found && found.systemIdentifier === own.systemIdentifier && found.database === own.database) {
    throw badInput('This is the database of the service itself; it cannot be a datasource');
  }
}

/**
 * Stops the statement in the source, then closes the connection: a backend that is blocked in sending notices only the
 * latter.
 */
async function cancel(target: ServerTarget, client: pg.Client, pid: number | null): Promise<void> {
  if (pid !== null) {
    const second = createClient(target);
    try {
      await second.connect();
      await second.query({
        text: 'select pg_catalog.pg_cancel_backend($1)',
        values: [pid],
        query_timeout: CONNECT_TIMEOUT,
      } as pg.QueryConfig);
    } catch {
      // The source may be unreachable or out of connections. Then only the connection of the service is closed, and
      // statement_timeout in the source remains.
    }
    second.connection.stream.destroy();
  }
  client.connection.stream.destroy();
}

export interface SessionLimits extends WorkLimits {
  target: ServerTarget;
  ownDatabase: DatabaseIdentity | null;
}

/** Opens a session, runs the task and closes the session, as `runSession` does. */
export async function withSession<T>(limits: SessionLimits, work: (session: Session) => Promise<T>): Promise<T> {
  const { target } = limits;
  const client = createClient(target);
  let pid: number | null = null;
  return runSession(
    limits,
    {
      async open(signal) {
        pid = await openClient(client, limits).catch((error: unknown) => {
          throw connectFailure(error, 'postgres', target);
        });
        return new Session(client, signal);
      },
      cancel: () => cancel(target, client, pid),
      end: () =>
        endGracefully(
          () => client.end(),
          () => client.connection.stream.destroy(),
        ),
      failure: (error) => statementFailure(error, target, limits.timeout),
    },
    work,
  );
}

/**
 * Connects, refuses the service's own database and the logins of apps, and configures the session. Returns the
 * backend's process id. An app can change the password of its login, but cannot create or rename logins. So a
 * datasource that users configure never reaches the tables of apps past the limits of the driver `app`, whatever its
 * server and database.
 */
async function openClient(client: pg.Client, { target, ownDatabase, timeout }: SessionLimits): Promise<number> {
  await client.connect();
  if (ownDatabase) await refuseOwnDatabase(client, ownDatabase);
  // Several statements in one text return an array of results, which pg's types lack.
  const results = (await client.query(sessionSettings(timeout))) as unknown as pg.QueryResult<{
    pid: number;
    login: string;
  }>[];
  const { pid, login } = results.at(-1)!.rows[0]!;
  if (!target.operated && isLoginOfApp(login))
    throw badInput('This is the login of an app; the tables of an app have a datasource of type "app"');
  return pid;
}
