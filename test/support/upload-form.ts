import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runSql } from './run-sql.ts';
import { startService, type Service } from './service.ts';

export const DATASETS = '/datasets/_upload';
export const DATASOURCES = '/datasources/_upload';

/** A CSV file of three orders. */
export const ORDERS = 'id,region,amount\n1,EU,10.5\n2,US,20\n3,,7\n';
export const ORDER_ROWS = [
  { id: 1, region: 'EU', amount: 10.5 },
  { id: 2, region: 'US', amount: 20 },
  { id: 3, region: null, amount: 7 },
];

export interface FormFields {
  /** Text parts before the file part. */
  before?: Record<string, string>;
  /** Text parts after the file part. */
  after?: Record<string, string>;
}

/** Creates a form with a file part and text parts. */
export function createForm(
  content: BlobPart,
  filename = 'orders.csv',
  { before = {}, after = {} }: FormFields = {},
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(before)) form.append(name, value);
  form.append('any-part-name', new Blob([content], { type: 'text/csv' }), filename);
  for (const [name, value] of Object.entries(after)) form.append(name, value);
  return form;
}

/** Creates the content of a SQLite database with these tables, each with one row. */
export function createSqliteFile(...tables: string[]): Uint8Array<ArrayBuffer> {
  const dir = mkdtempSync(join(tmpdir(), 'dws-sqlite-'));
  const database = new DatabaseSync(join(dir, 'db'));
  for (const table of tables) {
    const name = `"${table.replaceAll('"', '""')}"`;
    database.exec(`
      create table ${name} (id integer primary key, word text);
      insert into ${name} (word) values ('${table}')`);
  }
  database.close();
  const bytes = new Uint8Array(readFileSync(join(dir, 'db')));
  rmSync(dir, { recursive: true });
  return bytes;
}

/** Folder in which a service stores uploaded files. */
export const uploadFolder = ({ platform }: Service): string => join(platform.config.DATA_DIR, 'files');

/** Names of the stored files, sorted. */
export function storedFiles(service: Service): string[] {
  try {
    return readdirSync(uploadFolder(service)).toSorted();
  } catch {
    return [];
  }
}

/** Rows of all files, datasources and datasets in the service's database, of all owners. */
export const uploadRows = (service: Service): Promise<unknown[]> =>
  runSql(
    service.databaseUrl,
    `select 'file' as kind, id from dws.stored_file
    union all select 'datasource', id from dws.datasource
    union all select 'dataset', id from dws.dataset
    order by id`,
  );

/** Runs a test with a service of its own, in which no other test stores files. */
export async function withService(
  variables: Record<string, string>,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const service = await startService(variables);
  try {
    await work(service);
  } finally {
    await service.close();
  }
}
