import pg from 'pg';
import { SqlFailure, type WorkspaceRow } from '../../core/app-workspace.ts';
import { isConnectionLoss } from '../../core/connection-loss.ts';
import { DatabaseUnavailable } from '../../core/database-unavailable.ts';
import { ApiError } from '../../core/errors.ts';
import { valueReader } from './row-values.ts';

/** Lets pg return values as the text that Postgres wrote. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/** Maximum number of parameters of a statement in the protocol of Postgres. */
const MAX_PARAMETERS = 65_535;

const JSON_TYPES: ReadonlySet<number | undefined> = new Set([pg.types.builtins.JSON, pg.types.builtins.JSONB]);

const PROGRAM_LIMIT_EXCEEDED = '54000';

export interface ResultLimits {
  rows: number;
  bytes: number;
}

/** Returns no rows and skips all that arrive. */
export const WITHOUT_ROWS: ResultLimits = { rows: Infinity, bytes: Infinity };

/** A statement whose result is larger than its limits. Its connection cannot be used again. */
export class ResultTooLarge extends SqlFailure {
  constructor(limit: string) {
    super(PROGRAM_LIMIT_EXCEEDED, `The query returns more than ${limit}`);
  }
}

/**
 * Runs exactly one statement, which the protocol ensures. Returns its rows; with `WITHOUT_ROWS` none. Throws
 * `SqlFailure`, and UNAVAILABLE when the connection is lost.
 */
export async function runStatement(
  client: pg.Client,
  sql: string,
  params: readonly unknown[],
  limits: ResultLimits,
): Promise<WorkspaceRow[]> {
  if (params.length > MAX_PARAMETERS)
    throw new SqlFailure(PROGRAM_LIMIT_EXCEEDED, `A statement has at most ${MAX_PARAMETERS} parameters`);
  const config = {
    text: sql,
    values: params.some(Array.isArray) ? await withJsonLists(client, sql, params) : [...params],
    rowMode: 'array',
    types: AS_TEXT,
    queryMode: 'extended',
  } as unknown as pg.QueryConfig;
  const query = client.query(new Statement(config));
  const rows: WorkspaceRow[] = [];
  let bytes = 0;
  let read: ReturnType<typeof valueReader> | undefined;
  await new Promise<void>((resolve, reject) => {
    query.on('row', (values: unknown, result) => {
      if (limits === WITHOUT_ROWS) return;
      read ??= valueReader(result!.fields);
      for (const value of values as (string | null)[]) bytes += value === null ? 0 : Buffer.byteLength(value);
      if (rows.length === limits.rows) reject(new ResultTooLarge(`${limits.rows} rows`));
      else if (bytes > limits.bytes) reject(new ResultTooLarge(`${limits.bytes / 1024 / 1024} MiB`));
      else rows.push(read(values as (string | null)[]));
    });
    query.on('end', () => resolve());
    query.on('error', (error: Error) => reject(toFailure(error)));
  });
  return rows;
}

/** A statement without rows for a COPY FROM STDIN, which is refused instead of waiting for them. */
class Statement extends pg.Query {
  handleCopyInResponse(connection: { sendCopyFail(message: string): void; sync(): void }): void {
    connection.sendCopyFail('only migrations contain the rows of a COPY');
    connection.sync();
  }
}

/** Returns parameters in which lists for JSON are its text. Other lists are arrays of Postgres. */
async function withJsonLists(client: pg.Client, sql: string, params: readonly unknown[]): Promise<unknown[]> {
  const description = client.query(new Description(sql));
  await new Promise<void>((resolve, reject) => {
    description.on('end', () => resolve());
    description.on('error', (error: Error) => reject(toFailure(error)));
  });
  return params.map((param, n) =>
    Array.isArray(param) && JSON_TYPES.has(description.parameterTypes[n]) ? JSON.stringify(param) : param,
  );
}

/** Asks for the types of the parameters of a statement, without running it. */
class Description extends pg.Query {
  /** Known at the end. */
  parameterTypes: readonly number[] = [];

  readonly #sql: string;

  constructor(sql: string) {
    super({ text: sql, queryMode: 'extended' } as pg.QueryConfig);
    this.#sql = sql;
  }

  /** Called by pg to send the messages of the query. */
  prepare(connection: DescribingConnection): void {
    const note = ({ dataTypeIDs }: ParameterDescription) => (this.parameterTypes = dataTypeIDs);
    connection.on('parameterDescription', note);
    // A statement that fails has no description, and the connection is used again.
    for (const ended of ['end', 'error']) this.once(ended, () => connection.off('parameterDescription', note));
    connection.parse({ text: this.#sql, name: '', types: [] });
    connection.describe({ type: 'S', name: '' });
    connection.sync();
  }
}

interface ParameterDescription {
  dataTypeIDs: readonly number[];
}

/** The parts of a connection of pg 8 that send single messages. */
interface DescribingConnection {
  on(event: 'parameterDescription', listener: (message: ParameterDescription) => void): void;
  off(event: 'parameterDescription', listener: (message: ParameterDescription) => void): void;
  parse(message: { text: string; name: string; types: readonly number[] }): void;
  describe(message: { type: 'S'; name: string }): void;
  sync(): void;
}

/** Returns the error of a statement, or UNAVAILABLE for a lost connection. */
export function toFailure(error: Error): Error {
  // The guard of the connection refuses a row that is too long.
  if (error instanceof ApiError) return new SqlFailure(PROGRAM_LIMIT_EXCEEDED, error.message);
  if (isConnectionLoss(error) || !(error instanceof pg.DatabaseError)) return workspacesUnavailable(error);
  const position = error.position ? Number(error.position) - 1 : null;
  return new SqlFailure(error.code ?? 'XX000', error.message, position);
}

/** Returns the error for a database of the apps that does not respond. */
export const workspacesUnavailable = (cause: unknown): ApiError =>
  new DatabaseUnavailable(cause, "The apps' database does not respond");
