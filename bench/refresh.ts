/**
 * Measures a refresh from Postgres into the embedded index against the reference (copy-reference.ts: COPY to COPY
 * into a typed table), alternately in one run:
 * `npm run build && node bench/refresh.ts [rows=1000000] [rounds=2] [dist=dist]`. Prints Markdown. One `web` and one
 * `worker`, whose child loads. CPU
 * is that of all processes, including Postgres, which is source, target and the service's own database.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts';
import { TOKENS } from './fill.ts';
import { printTable } from './markdown.ts';
import { prepareService } from './prepare-service.ts';
import { cpuOf, memoryOf, POSTMASTER, startServer, stopServer, treeOf } from './processes.ts';

const given = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('='))) as Record<
  string,
  string
>;
const { rows = '1000000', rounds = '2', dist = 'dist' } = given;
const MAIN = join(import.meta.dirname, '..', dist, 'src/server/main.js');
const CORES = '0,1';
const PORTS = { web: 6111, worker: 6112 };

/** Twelve columns of common types. */
const ROWS = `create table orders as
  select n as id,
    'Customer ' || (n * 7919) % 50000 as customer,
    (array['new','paid','shipped','returned','cancelled'])[1 + n * 31 % 5] as status,
    (array['RU','DE','US','FR','CN','IN','BR','GB'])[1 + n * 17 % 8] as country,
    (n * 104729 % 1000000 / 100.0)::numeric(12,2) as amount,
    (n % 9973) / 8.0 as price,
    1 + n % 20 as quantity,
    (n * 13 % 100) / 100.0::float8 as discount,
    n % 3 <> 0 as paid,
    timestamptz '2022-01-01 00:00Z' + n * interval '94.6 seconds' as created,
    date '2022-01-01' + (n % 1095)::int as shipped,
    case when n % 10 <> 0 then 'note ' || md5(n::text) || ', "quoted" and ' || n % 1000 || ' more' end as note
  from generate_series(1, ${rows}::bigint) n`;

/** CPU seconds of all processes, and those of Postgres alone. */
interface Cost {
  seconds: number;
  cpu: number;
  postgres: number;
  loader: number;
  web: number;
  lag: number;
}

async function runSql(url: string, ...statements: string[]): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let found: pg.QueryResultRow[] = [];
    for (const statement of statements) found = (await client.query(statement)).rows;
    return found;
  } finally {
    await client.end();
  }
}

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${PORTS.web}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKENS.superuser}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const said = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status} ${said}`);
  return JSON.parse(said) as Record<string, unknown>;
}

/** Returns the p99 of the event loop's delay since the last call, in milliseconds. */
async function lagOfWeb(): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${PORTS.web}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1000;
}

const dir = mkdtempSync('/tmp/dws-refresh-');
execFileSync('chmod', ['711', dir]);
const postgres = await startEmbeddedPostgres({ dataDir: dir, durable: false });
const servers: Awaited<ReturnType<typeof startServer>>[] = [];
try {
  const source = postgres.url.replace(/dws$/, 'source');
  await runSql(postgres.url, 'create database source');
  const [held] = await runSql(source, ROWS, 'vacuum (analyze) orders', 'create table copied (like orders)', POSTMASTER);
  const postmaster = Number(held!['pid']);

  const env = await prepareService(MAIN, postgres.url, dir);
  for (const ROLE of ['web', 'worker'] as const)
    servers.push(
      await startServer(
        CORES,
        [process.execPath, MAIN, 'serve', '--port', String(PORTS[ROLE])],
        { ...env, ROLE },
        `http://127.0.0.1:${PORTS[ROLE]}/healthz`,
      ),
    );
  const [web, worker] = servers.map(({ pid }) => pid!) as [number, number];

  const { hostname, port, username, password } = new URL(source);
  const { id: datasourceId } = await call('POST', '/api/datasources', {
    name: 'Orders',
    type: 'postgres',
    config: { host: hostname, port: Number(port), database: 'source', user: username },
    secrets: { password: decodeURIComponent(password) },
  });
  const { id } = await call('POST', '/api/datasets', { name: 'Orders', datasourceId, query: 'select * from orders' });

  const reference = async (): Promise<Cost> => {
    await runSql(source, 'truncate copied', 'checkpoint');
    const before = cpuOf(postmaster);
    const began = performance.now();
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'copy-reference.ts'), 'select * from orders', 'copied'],
      { env: { ...process.env, SOURCE_URL: source, TARGET_URL: source }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stdout)]);
    if (code !== 0) throw new Error('The reference failed');
    const seconds = (performance.now() - began) / 1000;
    const [copied] = await runSql(source, 'select count(*) as rows from copied');
    if (Number(copied!['rows']) !== Number(rows)) throw new Error(`${String(copied!['rows'])} rows were copied`);
    const used = cpuOf(postmaster) - before;
    return { seconds, cpu: used + Number(said), postgres: used, loader: 0, web: 0, lag: 0 };
  };

  const ours = async (): Promise<Cost> => {
    await runSql(source, 'checkpoint');
    await lagOfWeb();
    const cpu = () => [cpuOf(postmaster), cpuOf(web) + cpuOf(worker)] as const;
    let loader = 0;
    const watch = setInterval(() => {
      for (const pid of treeOf(worker).slice(1)) loader = Math.max(loader, memoryOf(pid, 'VmHWM'));
    }, 100);
    const before = cpu();
    const began = performance.now();
    const { records } = await call('POST', `/api/datasets/${String(id)}/_refresh`, {});
    const seconds = (performance.now() - began) / 1000;
    clearInterval(watch);
    if (records !== Number(rows)) throw new Error(`${String(records)} rows were loaded`);
    const [postgresNow, oursNow] = cpu();
    const used = postgresNow - before[0];
    return {
      seconds,
      cpu: used + oursNow - before[1],
      postgres: used,
      loader,
      web: memoryOf(web, 'VmHWM'),
      lag: await lagOfWeb(),
    };
  };

  const best = (costs: Cost[]): Cost => costs.toSorted((a, b) => a.cpu - b.cpu)[0]!;
  const costs: { reference: Cost[]; ours: Cost[] } = { reference: [], ours: [] };
  // The first round only warms caches.
  for (let round = -1; round < Number(rounds); round++) {
    const pair = { reference: await reference(), ours: await ours() };
    if (round >= 0) for (const key of ['reference', 'ours'] as const) costs[key].push(pair[key]);
  }
  const copied = best(costs.reference);
  const loaded = best(costs.ours);
  console.log(`## Refresh of ${rows} rows x 12 columns\n`);
  const figures = ({ seconds, cpu, postgres }: Cost) => [
    (Number(rows) / seconds).toFixed(0),
    cpu.toFixed(1),
    postgres.toFixed(1),
  ];
  const most = (numbers: number[]) => Math.max(...numbers).toFixed(0);
  const loader = most(costs.ours.map((cost) => cost.loader));
  const lag = most(costs.ours.map((cost) => cost.lag));
  const ratios = [(copied.seconds / loaded.seconds).toFixed(2), (loaded.cpu / copied.cpu).toFixed(2)];
  printTable(
    [
      '',
      'rows/s',
      'CPU s',
      'of Postgres',
      'peak RSS of the loader MiB',
      'of web MiB',
      'event loop delay of web p99 ms',
    ],
    [
      ['COPY to COPY', ...figures(copied), '', '', ''],
      ['refresh', ...figures(loaded), loader, loaded.web.toFixed(0), lag],
      ['ratio', ...ratios, '', '', '', ''],
    ],
  );
} finally {
  for (const server of servers) await stopServer(server);
  await postgres.close();
  rmSync(dir, { recursive: true, force: true });
}
