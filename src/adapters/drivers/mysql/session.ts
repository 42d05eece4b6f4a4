import type { Connection, PrepareStatementInfo, TypedParameterValue } from 'mysql2';
import { upstreamFailed } from '../../../core/errors.ts';
import type { ServerTarget } from '../server-config.ts';
import { connectFailure } from '../server-error.ts';
import { runSession, endGracefully, type WorkLimits } from '../server-session.ts';
import { cancel, waitUntilConnected, createConnection, endConnection, hangUp, queryTexts } from './connection.ts';
import { isServerError, statementFailure } from './statement-error.ts';
import { takeRows, WireGuard, wireOf, type RowTaker, type WireField } from './wire.ts';

/** A value bound to a statement. */
export type BoundValue = string | null | TypedParameterValue;

/** A statement that the server has parsed and not run. */
export interface ParsedStatement {
  handle: PrepareStatementInfo;
  /** Empty when it returns no rows at all, as an UPDATE does. */
  fields: WireField[];
  parameters: number;
}

/** One connection to a source, for one task. It ends when the task ends, its signal aborts or its time is over. */
export class Session {
  readonly #connection: Connection;
  readonly #guard: WireGuard;
  /** Aborted by the caller or by the time limit. */
  readonly signal: AbortSignal;
  /** Whether a statement has not sent all of its rows. */
  busy = false;

  constructor(connection: Connection, guard: WireGuard, signal: AbortSignal) {
    this.#connection = connection;
    this.#guard = guard;
    this.signal = signal;
  }

  /** Runs SQL of the service (never a user's text) and returns its rows as texts. */
  query(sql: string): Promise<(string | null)[][]> {
    this.#guard.begin();
    return queryTexts(this.#connection, sql);
  }

  /** Parses one statement in the source without running it. A second statement in the text is refused. */
  parse(sql: string): Promise<ParsedStatement> {
    this.#guard.begin();
    return new Promise((resolve, reject) => {
      this.#connection.prepare(sql, (error, handle) => {
        if (error) return reject(error);
        const { columns, parameters } = handle as unknown as { columns: WireField[]; parameters: unknown[] };
        resolve({ handle, fields: columns, parameters: parameters.length });
      });
    });
  }

  /**
   * Runs a parsed statement. `begin` returns a function that receives its rows as they arrive. Resolves after the last
   * one.
   */
  async run(
    { handle }: ParsedStatement,
    values: BoundValue[],
    begin: (fields: WireField[]) => RowTaker,
  ): Promise<void> {
    this.#guard.begin();
    this.busy = true;
    await new Promise<void>((resolve, reject) => {
      const command = handle.execute(values, (error) => {
        // After an error response the server has finished the statement; after any other error that is unknown.
        this.busy = error !== null && !isServerError(error);
        if (error) reject(error);
        else resolve();
      });
      takeRows(command, (fields) => {
        this.#guard.passRows();
        return begin(fields);
      });
    });
  }

  /** Pauses reading. Rows that have arrived already are still delivered. */
  pause(): void {
    wireOf(this.#connection).stream.pause();
  }

  resume(): void {
    wireOf(this.#connection).stream.resume();
  }

  /** Ends the session with an error for the pending request. */
  fail(error: Error): void {
    wireOf(this.#connection).stream.destroy(error);
  }
}

/** Opens a session, runs the task and closes the session, as `runSession` does. */
export async function withSession<T>(
  limits: WorkLimits & { target: ServerTarget },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { target, timeout } = limits;
  const connection = createConnection(target);
  const guard = new WireGuard(connection);
  let id: string | null = null;
  let session: Session | undefined;
  return runSession(
    limits,
    {
      async open(signal) {
        session = new Session(connection, guard, signal);
        id = await setUp(connection, session, timeout).catch((error: unknown) => {
          throw connectFailure(error, 'mysql', target);
        });
        return session;
      },
      cancel: () => cancel(target, connection, id),
      end: () =>
        session?.busy
          ? cancel(target, connection, id)
          : endGracefully(
              () => endConnection(connection),
              () => hangUp(connection),
            ),
      failure: (error) => statementFailure(error, target, timeout),
    },
    work,
  );
}

/** Maximum times of MariaDB and MySQL: a year, and 32 bits. */
const MAX_SECONDS = 31_536_000;
const MAX_MILLISECONDS = 4_294_967_295;
const OLDEST = { MySQL: [8, 0], MariaDB: [10, 5] } as const;

/** Parses the version of a server: `10.11.19-MariaDB-log`, `8.4.3`. */
export function productOf(version: string): { product: keyof typeof OLDEST; number: string } {
  return { product: /mariadb/i.test(version) ? 'MariaDB' : 'MySQL', number: /^[\d.]+/.exec(version)?.[0] ?? version };
}

/**
 * Connects and configures the session: one SQL mode, read-only, independent of the server's settings. Returns the
 * connection's id.
 */
async function setUp(connection: Connection, session: Session, timeout: number): Promise<string> {
  await waitUntilConnected(connection);
  const [[version, id]] = (await session.query('select version(), connection_id()')) as [[string, string]];
  const { product, number } = productOf(version);
  const [major = 0, minor = 0] = number.split('.').map(Number);
  const [least, leastMinor] = OLDEST[product];
  if (major < least || (major === least && minor < leastMinor))
    throw upstreamFailed(
      `${product} ${number} is too old; ${product} ${least}.${leastMinor} is the oldest that can be a source`,
    );

  const seconds = Math.min(MAX_SECONDS, Math.ceil(timeout / 1000));
  const limit =
    product === 'MariaDB'
      ? `max_statement_time = ${Math.min(MAX_SECONDS, timeout / 1000)}`
      : `max_execution_time = ${Math.min(MAX_MILLISECONDS, Math.ceil(timeout))}`;
  // A server disconnects a client that reads nothing for net_write_timeout; this client waits for the loader.
  await session.query(
    `set names utf8mb4, time_zone = '+00:00', sql_mode = '',
      sql_select_limit = 18446744073709551615, net_write_timeout = ${seconds}, ${limit}`,
  );
  await session.query('set session transaction read only');
  return id;
}
