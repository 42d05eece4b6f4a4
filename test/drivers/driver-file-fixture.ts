import { writeFile } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { openEngine } from '../../src/adapters/drivers/file/file-engine.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { driverOf, rejectionOf, useFiles, type OpenFile } from '../support/uploaded-source.ts';

export const SELECT_ALL = 'select * from data';

const SMALL_FILE = 'a,b\n1,x\n2,y\n';
const SMALL_CONFIG = {
  format: 'csv',
  delimiter: ',',
  skip: 0,
  header: true,
  columns: [
    { name: 'a', type: 'BIGINT' },
    { name: 'b', type: 'VARCHAR' },
  ],
};

/** Runs statements in an instance of DuckDB of their own. Returns the rows of the last one. */
export async function runDuckdb(...statements: string[]): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  let rows: unknown[][] = [];
  for (const statement of statements) rows = (await connection.runAndReadAll(statement)).getRows();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

/** Runs a query on a file in this process, which takes much less time than a query process. Returns its rows. */
export const queryInProcess = async (
  path: string,
  config: Record<string, unknown>,
  text: string,
): Promise<unknown[][]> =>
  (await openEngine(path, config).rows(boundQuery(text), 100)).rows.map((row) => Object.values(row));

/** Sets up a folder for the uploaded files of a test file, and functions that upload to it. */
export function useUploads() {
  const files = useFiles();
  let uploads = 0;

  const detectConfig = async (name: string, filename: string, given?: Record<string, unknown>) =>
    (await driverOf('file').upload!.detectConfig(files.path(name), filename, neverAborted, given))?.config ?? null;

  /** Uploads a file. Returns the detected config, and the open file. */
  async function upload(
    content: string | Buffer,
    filename = 'x.csv',
    given?: Record<string, unknown>,
  ): Promise<{ config: Record<string, unknown>; name: string; file: OpenFile }> {
    const name = `upload-${uploads++}`;
    await writeFile(files.path(name), content);
    const config = (await detectConfig(name, filename, given))!;
    return { config, name, file: files.open('file', name, config) };
  }

  /** Uploads a file and reads its rows as a dataset does. */
  async function readRows(content: string | Buffer, filename?: string, given?: Record<string, unknown>) {
    const { file } = await upload(content, filename, given);
    const { fields, rows } = await file.query(SELECT_ALL, [], 1000);
    return { types: fields.map(({ name, type }) => `${name} ${type}`), rows: rows.map((row) => Object.values(row)) };
  }

  /** Returns the error with which the upload of a file fails. */
  const uploadFailure = async (content: string | Buffer, filename?: string, given?: Record<string, unknown>) =>
    (await rejectionOf(upload(content, filename, given))) as { status: number; message: string };

  /** Opens a small CSV file. */
  async function openSmallFile(): Promise<OpenFile> {
    await writeFile(files.path('small'), SMALL_FILE);
    return files.open('file', 'small', SMALL_CONFIG);
  }

  /** Runs a query on the small CSV file in this process. Returns its rows. */
  async function querySmallFile(text: string): Promise<unknown[][]> {
    await writeFile(files.path('small'), SMALL_FILE);
    return queryInProcess(files.path('small'), SMALL_CONFIG, text);
  }

  /** Uploads a file and reads its rows in this process, which takes much less time than query processes. */
  async function readInProcess(content: string | Buffer, given: Record<string, unknown> = {}, filename = 'x.csv') {
    const path = files.path(`upload-${uploads++}`);
    await writeFile(path, content);
    const { config, problems } = (await openEngine(path, given).detectConfig(filename))!;
    const { fields, rows } = await openEngine(path, config).rows(boundQuery(SELECT_ALL), 1000);
    return {
      config,
      problems,
      types: fields.map(({ name, type }) => `${name} ${type}`),
      rows: rows.map((row) => fields.map(({ name }) => row[name])),
    };
  }

  return { readInProcess, files, detectConfig, upload, readRows, uploadFailure, openSmallFile, querySmallFile };
}
