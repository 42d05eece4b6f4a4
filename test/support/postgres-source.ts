import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import type { DatabaseIdentity } from '../../src/adapters/drivers/source-guard.ts';
import type { BoundQuery, QueryResult, Segment, SourceConnection } from '../../src/core/row-source.ts';
import { createDatabase, type TestDatabase } from './postgres.ts';
import { runSql } from './run-sql.ts';

type Parameter = BoundQuery['parameters'][number];

/** Creates a bound parameter. The data type defaults to the type of the value; dates require it. */
export const boundParameter = (
  name: string,
  value: Parameter['value'],
  dataType?: Parameter['dataType'],
): Parameter => ({
  name,
  value,
  dataType: dataType ?? (typeof value === 'object' ? 'string' : (typeof value as 'string' | 'number' | 'boolean')),
});

export const boundQuery = (text: string, parameters: Parameter[] = [], timeout = 20_000): BoundQuery => ({
  text,
  parameters,
  timeout,
});

export const neverAborted = new AbortController().signal;

/** A datasource's config and secrets for the database of a URL. */
export function configOf(url: string): { config: Record<string, unknown>; secrets: Record<string, string> } {
  const { hostname, port, pathname, username, password } = new URL(url);
  return {
    config: { host: hostname, port: Number(port), database: pathname.slice(1), user: username },
    secrets: { password },
  };
}

export const openSource = (
  url: string,
  change: Record<string, unknown> = {},
  ownDatabase: DatabaseIdentity | null = null,
): SourceConnection => {
  const { config, secrets } = configOf(url);
  return createDrivers({ ownDatabase })
    .driverOf('postgres')
    .connect({ ...config, ...change }, secrets, null);
};

/**
 * Parses the records of a segment, each value its text or null. Independent of the product's CSV readers, so that it
 * does not share their errors.
 */
export function parseCsv(text: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (let at = 0; at < text.length;) {
    let value: string | null = '';
    if (text[at] === '"') {
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) value += text[at] === '"' ? text[at++] : text[at];
      at++;
    } else {
      while (text[at] !== ',' && text[at] !== '\n') value += text[at++];
      if (value === '\\N') value = null;
    }
    row.push(value);
    if (text[at++] === '\n') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

/** Loads a query's result: the records of its segments, and the segments. Deletes their files in `dir`. */
export async function loadFrom(
  connection: SourceConnection,
  dir: string,
  query: BoundQuery,
): Promise<{ rows: (string | null)[][]; segments: Segment[] }> {
  const segments: Segment[] = [];
  const rows: (string | null)[][] = [];
  for await (const segment of connection.segments(query, dir, neverAborted)) {
    segments.push(segment);
    rows.push(...parseCsv(await readFile(segment.path, 'utf8')));
    await rm(segment.path);
  }
  return { rows, segments };
}

/**
 * Sets up a database of the test file as a source. It is opened as superuser, so what is refused is refused for all
 * roles.
 */
export function useSource() {
  const source = {} as {
    database: TestDatabase;
    connection: SourceConnection;
    dir: string;
    /** Runs SQL directly in the source. */
    sql(text: string, values?: unknown[]): ReturnType<typeof runSql>;
    load(query: BoundQuery): ReturnType<typeof loadFrom>;
    query(text: string, parameters?: Parameter[], limit?: number): Promise<QueryResult>;
    /** Returns the statements of the driver that are running in the source. */
    busy(): Promise<string[]>;
  };
  beforeAll(async () => {
    source.database = await createDatabase('template0');
    source.connection = openSource(source.database.url);
    source.dir = await mkdtemp(join(tmpdir(), 'dws-segments-'));
    source.sql = (text, values) => runSql(source.database.url, text, values);
    source.load = (query) => loadFrom(source.connection, source.dir, query);
    source.query = (text, parameters = [], limit = 100) =>
      source.connection.query(boundQuery(text, parameters), limit, neverAborted);
    source.busy = async () =>
      (
        await source.sql(
          `select query
          from pg_stat_activity
          where application_name = 'data-workspace-service' and datname = current_database()`,
        )
      ).map((row) => String(row.query));
  });
  afterAll(async () => {
    await source.connection.close();
    await source.database.drop();
    await rm(source.dir, { recursive: true });
  });
  return source;
}
