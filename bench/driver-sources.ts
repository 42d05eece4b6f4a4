/** Sources of a million rows of twelve columns of common types, one for each driver, and how an application reads them. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { createConnection } from 'mysql2';
import mysql from 'mysql2/promise';
import { createDrivers } from '../src/adapters/drivers/driver-registry.ts';
import { start } from '../tools/mariadb.ts';

/** A datasource and the query whose rows are read. */
export interface Source {
  contender: string;
  type: string;
  config: Record<string, unknown>;
  secrets: Record<string, string>;
  file: string | null;
  query: string;
}
interface Opened {
  source: Source;
  /** The source's process; null when it is a file. */ pid: number | null;
  close(): Promise<void>;
}
interface Contender {
  /** Creates a source with this many rows of twelve columns of common types. */
  open(rows: number): Promise<Opened>;
  /** Reads the rows as an application would, discards them and returns their number. */
  read(source: Source): Promise<number>;
}
/** The sources by the names that the command line uses. */
export const CONTENDERS: Record<string, Contender> = {
  mysql: {
    async open(rows) {
      const {
        address: { host, port, user, password },
        stop,
      } = await start();
      const admin = await mysql.createConnection({ host, port, user, password, multipleStatements: true });
      await admin.query(`
        create database bench;
        use bench;
        create table orders (
          id bigint primary key, customer varchar(40), status varchar(10), country char(2), amount decimal(12,2),
          price double, quantity int, discount double, paid tinyint(1), created datetime(3), shipped date, note text
        ) as
        select seq as id,
          concat('Customer ', (seq * 7919) % 50000) as customer,
          elt(1 + seq * 31 % 5, 'new', 'paid', 'shipped', 'returned', 'cancelled') as status,
          elt(1 + seq * 17 % 8, 'RU', 'DE', 'US', 'FR', 'CN', 'IN', 'BR', 'GB') as country,
          seq * 104729 % 1000000 / 100 as amount,
          (seq % 9973) / 8e0 as price,
          1 + seq % 20 as quantity,
          (seq * 13 % 100) / 100e0 as discount,
          seq % 3 <> 0 as paid,
          '2022-01-01' + interval seq * 94 second as created,
          date('2022-01-01' + interval seq % 1095 day) as shipped,
          if(seq % 10 <> 0, concat('note ', md5(seq), ', "quoted" and ', seq % 1000, ' more'), null) as note
        from seq_1_to_${rows}`);
      const [[row]] = await admin.query<mysql.RowDataPacket[]>('select @@pid_file as file');
      await admin.end();
      const pid = Number(execFileSync('cat', [String(row!['file'])], { encoding: 'utf8' }));
      return {
        source: {
          contender: 'mysql',
          type: 'mysql',
          config: { host, port, database: 'bench', user },
          secrets: { password },
          file: null,
          query: 'select * from orders',
        },
        pid,
        close: stop,
      };
    },
    async read({ config, secrets, query }) {
      const connection = createConnection({ ...config, ...secrets });
      let rows = 0;
      await new Promise<void>((done, failed) => {
        connection
          .query({ sql: query, rowsAsArray: true })
          .on('result', () => rows++)
          .on('end', done)
          .on('error', failed);
      });
      connection.end();
      return rows;
    },
  },
  sqlite: {
    open: (rows) =>
      uploaded('sqlite', 'sqlite', 'orders.db', 'select * from orders', (path) => {
        const database = new DatabaseSync(path);
        database.exec(`create table orders (
          id integer primary key, customer text, status text, country text, amount decimal(12,2), price real,
          quantity integer, discount real, paid boolean, created datetime, shipped date, note text
        )`);
        const insert = database.prepare(
          `insert into orders values (${Array.from({ length: 12 }, () => '?').join(', ')})`,
        );
        database.exec('begin');
        for (let n = 1; n <= rows; n++) insert.run(...valuesOf(n));
        database.exec('commit');
        database.close();
      }),
    async read({ file, query }) {
      const database = new DatabaseSync(file!, { readOnly: true });
      let rows = 0;
      for (const _ of database.prepare(query).iterate()) rows++;
      database.close();
      return rows;
    },
  },
  csv: {
    open: (rows) => uploaded('csv', 'file', 'orders.csv', 'select * from data', (path) => writeCsv(path, rows)),
    read: ({ file }) => readByDuckdb(`read_csv('${file}')`),
  },
  parquet: {
    open: (rows) =>
      uploaded('parquet', 'file', 'orders.parquet', 'select * from data', async (path) => {
        writeCsv(`${path}.csv`, rows);
        const instance = await DuckDBInstance.create();
        await (await instance.connect()).run(`copy (from read_csv('${path}.csv')) to '${path}' (format parquet)`);
      }),
    read: ({ file }) => readByDuckdb(`read_parquet('${file}')`),
  },
};

/** Row n of the uploaded files. */
const valuesOf = (n: number): (string | number | null)[] => {
  const at = new Date(1_640_995_200_000 + n * 94_000).toISOString();
  return [
    n,
    `Customer ${(n * 7919) % 50_000}`,
    ['new', 'paid', 'shipped', 'returned', 'cancelled'][(n * 31) % 5]!,
    ['RU', 'DE', 'US', 'FR', 'CN', 'IN', 'BR', 'GB'][(n * 17) % 8]!,
    ((n * 104_729) % 1_000_000) / 100,
    (n % 9973) / 8,
    1 + (n % 20),
    ((n * 13) % 100) / 100,
    n % 3 === 0 ? 0 : 1,
    at,
    at.slice(0, 10),
    n % 10 === 0 ? null : `note ${n.toString(16).padStart(32, '0')}, "quoted" and ${n % 1000} more`,
  ];
};
const COLUMNS = 'id,customer,status,country,amount,price,quantity,discount,paid,created,shipped,note';

function writeCsv(path: string, rows: number): void {
  const file = openSync(path, 'w');
  let text = `${COLUMNS}\n`;
  for (let n = 1; n <= rows; n++) {
    text += `${valuesOf(n)
      .map((value) =>
        typeof value === 'string' && value.includes('"') ? `"${value.replaceAll('"', '""')}"` : (value ?? ''),
      )
      .join(',')}\n`;
    if (text.length > 1 << 20 || n === rows) {
      writeSync(file, text);
      text = '';
    }
  }
  closeSync(file);
}

/** Creates a file once and detects its config as its driver does. */
async function uploaded(
  contender: string,
  type: string,
  name: string,
  query: string,
  make: (path: string) => void | Promise<void>,
): Promise<Opened> {
  const dir = mkdtempSync(join(tmpdir(), 'dws-drivers-'));
  const file = join(dir, name);
  await make(file);
  const detected = await createDrivers({ ownDatabase: null })
    .driverOf(type)
    .upload!.detectConfig(file, name, new AbortController().signal);
  return {
    source: { contender, type, config: detected!.config, secrets: {}, file, query },
    pid: null,
    close: async () => rmSync(dir, { recursive: true }),
  };
}

/** Counts the rows that DuckDB reads from a file, chunk by chunk. */
async function readByDuckdb(table: string): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const result = await (await instance.connect()).stream(`select * from ${table}`);
  let rows = 0;
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk())
    rows += chunk.rowCount;
  return rows;
}
