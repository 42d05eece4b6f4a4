/**
 * Measures a refresh through a driver against reading the same cursor and discarding the rows, alternately in one
 * run, each in its own process:
 * `node bench/drivers.ts [drivers=mysql,sqlite,csv,parquet] [rows=1000000] [rounds=2]`. Prints Markdown. CPU is that
 * of the reading process and its
 * children; that of the source is printed beside it.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { createConnection } from 'mysql2';
import mysql from 'mysql2/promise';
import { openDuckdbIndex } from '../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { createDrivers } from '../src/adapters/drivers/driver-registry.ts';
import { withFinalColumns } from '../src/core/columns-changed.ts';
import { start } from '../tools/mariadb.ts';
import { printTable } from './markdown.ts';
import { cpuOf } from './processes.ts';

/** A datasource and the query whose rows are read. */
interface Source {
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
interface Cost {
  rows: number;
  seconds: number;
  cpu: number;
  source: number;
  peak: number;
}

const CONTENDERS: Record<string, Contender> = {
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

/** Runs a refresh without the service around it: describe, segments, a generation of the embedded index. */
async function refresh({ type, config, secrets, file, query }: Source): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'dws-drivers-'));
  const connection = createDrivers({ ownDatabase: null }).driverOf(type).connect(config, secrets, file);
  const index = openDuckdbIndex({ dir: join(dir, 'index'), threads: 2 });
  const { signal } = new AbortController();
  const bound = { text: query, parameters: [], timeout: 600_000 };
  try {
    const plan = { flow: [], maxRows: 0, progress: () => {}, signal };
    const loaded = await withFinalColumns(await connection.describe(bound, signal, { provisional: true }), (columns) =>
      index.load(randomUUID(), columns, connection.segments(bound, dir, signal), plan),
    );
    return loaded.records;
  } finally {
    await index.close();
    await connection.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Takes one measurement, alone in this process. */
async function measure(what: 'read' | 'refresh', source: Source): Promise<Omit<Cost, 'source'>> {
  const before = cpuOf(process.pid);
  const began = performance.now();
  const rows = what === 'read' ? await CONTENDERS[source.contender]!.read(source) : await refresh(source);
  return {
    rows,
    seconds: (performance.now() - began) / 1000,
    cpu: cpuOf(process.pid) - before,
    peak: process.resourceUsage().maxRSS / 1024,
  };
}

async function compare(name: string, rows: number, rounds: number): Promise<void> {
  const { source, pid, close } = await CONTENDERS[name]!.open(rows);
  try {
    const cost = (what: 'read' | 'refresh'): Cost => {
      const before = pid === null ? 0 : cpuOf(pid);
      const said = execFileSync(process.execPath, [import.meta.filename, what, JSON.stringify(source)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const measured = {
        ...(JSON.parse(said) as Omit<Cost, 'source'>),
        source: pid === null ? 0 : cpuOf(pid) - before,
      };
      if (measured.rows !== rows) throw new Error(`${what} of ${name} saw ${measured.rows} rows`);
      return measured;
    };
    const costs: Record<'read' | 'refresh', Cost[]> = { read: [], refresh: [] };
    // The first round only warms caches.
    for (let round = -1; round < rounds; round++) {
      const pair = { read: cost('read'), refresh: cost('refresh') };
      if (round >= 0) for (const what of ['read', 'refresh'] as const) costs[what].push(pair[what]);
    }
    const [read, loaded] = [costs.read, costs.refresh].map((all) => all.toSorted((a, b) => a.cpu - b.cpu)[0]!) as [
      Cost,
      Cost,
    ];
    console.log(`\n## ${name}: ${rows} rows x 12 columns\n`);
    const figures = ({ seconds, cpu, source, peak }: Cost) => [
      (rows / seconds).toFixed(0),
      cpu.toFixed(2),
      source.toFixed(2),
      peak.toFixed(0),
    ];
    printTable(
      ['', 'rows/s', 'CPU s', 'of the source', 'peak RSS MiB'],
      [
        ['read and discarded', ...figures(read)],
        ['refresh', ...figures(loaded)],
        ['ratio', (read.seconds / loaded.seconds).toFixed(2), (loaded.cpu / read.cpu).toFixed(2), '', ''],
      ],
    );
  } finally {
    await close();
  }
}

const [first, second] = process.argv.slice(2);
if (first === 'read' || first === 'refresh')
  console.log(JSON.stringify(await measure(first, JSON.parse(second!) as Source)));
else {
  const {
    drivers = Object.keys(CONTENDERS).join(),
    rows = '1000000',
    rounds = '2',
  } = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('='))) as Record<string, string>;
  for (const name of drivers.split(',')) await compare(name, Number(rows), Number(rounds));
}
