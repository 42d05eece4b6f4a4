import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import { withFinalColumns } from '../../src/core/columns-changed.ts';
import type { Generation, LoadPlan } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import type { BoundQuery, QueryResult, Segment, SourceConnection } from '../../src/core/row-source.ts';
import { childrenOf } from '../operation/refreshable.ts';
import { boundQuery, neverAborted, parseCsv } from './postgres-source.ts';

/** Returns the driver of uploaded files with this id. */
export const driverOf = (id: string) => createDrivers({ ownDatabase: null }).driverOf(id);

/** Returns the process ids of a process's query processes, without a spare one. */
export function queryProcesses(parent: number = process.pid): number[] {
  const children = readdirSync(`/proc/${parent}/task`).flatMap((task) =>
    textAt(`/proc/${parent}/task/${task}/children`).split(/\s+/).filter(Boolean),
  );
  return children.filter((child) => textAt(`/proc/${child}/cmdline`).includes('query-process')).map(Number);
}

/** Returns the content of a file, '' if it does not exist. */
function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the child processes with the title of a spare. */
export const sparesOf = async (parent: number = process.pid): Promise<number[]> =>
  (await childrenOf(parent)).filter((pid) => isAlive(pid) && textAt(`/proc/${pid}/cmdline`).includes('spare'));

/** Returns whether a process is running. A zombie is not. */
export const isAlive = (pid: number): boolean => /\) [^Z] /.test(textAt(`/proc/${pid}/stat`));

/** Waits for a condition, until the timeout of the test. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

/**
 * Returns the reason with which a promise rejects. Attaches its handler immediately, so the promise may reject before
 * it is awaited.
 */
export const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** An open uploaded file. */
export interface OpenFile {
  connection: SourceConnection;
  query(text: string, parameters?: BoundQuery['parameters'], limit?: number): Promise<QueryResult>;
  /** Loads a query's result: the records of its segments, and the segments. */
  load(query: BoundQuery): Promise<{ rows: (string | null)[][]; segments: Segment[] }>;
  /** Loads a query's rows into a DuckDB index like a refresh, and reads them back. */
  index(text: string, plan?: Partial<LoadPlan>): Promise<{ generation: Generation; rows: Record<string, unknown>[] }>;
}

/** Sets up a folder for the files of a test file, and functions that open them. */
export function useFiles() {
  const files = {} as {
    dir: string;
    segments: string;
    path(name: string): string;
    open(driver: string, name: string, config?: Record<string, unknown>): OpenFile;
  };
  beforeAll(async () => {
    files.dir = await mkdtemp(join(tmpdir(), 'dws-files-'));
    files.segments = await mkdtemp(join(files.dir, 'segments-'));
    files.path = (name) => join(files.dir, name);
    files.open = (driver, name, config = {}) =>
      openFile(driverOf(driver).connect(config, {}, files.path(name)), files.segments, files.dir);
  });
  afterAll(async () => {
    await rm(files.dir, { recursive: true });
  });
  return files;
}

/** Returns the rows of a segment as texts. */
async function rowsOf({ path, table }: Segment): Promise<(string | null)[][]> {
  if (!table) return parseCsv(await readFile(path, 'utf8'));
  const instance = await DuckDBInstance.create(path, { access_mode: 'read_only' });
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll('select columns(*)::varchar from data')).getRows();
  connection.closeSync();
  instance.closeSync();
  return rows as (string | null)[][];
}

function openFile(connection: SourceConnection, dir: string, home: string): OpenFile {
  const load: OpenFile['load'] = async (query) => {
    const segments: Segment[] = [];
    const rows: (string | null)[][] = [];
    for await (const segment of connection.segments(query, dir, neverAborted)) {
      segments.push(segment);
      for (const row of await rowsOf(segment)) rows.push(row);
      await rm(segment.path);
    }
    return { rows, segments };
  };
  return {
    connection,
    load,
    query: (text, parameters = [], limit = 100) => connection.query(boundQuery(text, parameters), limit, neverAborted),
    async index(text, more = {}) {
      const index = openDuckdbIndex({ dir: join(home, 'index') });
      try {
        const provisional = await connection.describe(boundQuery(text), neverAborted, { provisional: true });
        const plan = { flow: [], maxRows: 0, signal: neverAborted, progress: () => {}, ...more };
        const generation = await withFinalColumns(provisional, (columns) =>
          index.load(newId(), columns, connection.segments(boundQuery(text), dir, neverAborted), plan),
        );
        const fields = generation.fields.map(({ name }) => name);
        const { rows } = await index.search(
          {
            generation,
            caller: { tenantId: 'tenant', userId: 'user' },
            where: { kind: 'and', nodes: [] },
            words: [],
            wordFields: [],
            fields,
            sort: [],
            start: 0,
            limit: 1000,
            total: false,
          },
          neverAborted,
        );
        return { generation, rows };
      } finally {
        await index.close();
      }
    },
  };
}

/** Lists the names of the files in a folder. */
export const filesIn = (dir: string): Promise<string[]> => readdir(dir);
