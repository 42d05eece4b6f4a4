/**
 * Measures snapshots, copies and drafts at few and at many rows, the overhead of a restricted reader, and how much
 * the time of `q` reveals to one:
 * `npm run build && node bench/parts.ts [rows=1000000] [rounds=15] [dist=dist]`. Prints Markdown with medians in
 * milliseconds. One `web` and one `worker`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts';
import { fill, TOKENS } from './fill.ts';
import { startServer, stopServer } from './processes.ts';

const given = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('='))) as Record<
  string,
  string
>;
const { rows = '1000000', rounds = '15', dist = 'dist' } = given;
const FEW = 1000;
const MAIN = join(import.meta.dirname, '..', dist, 'src/server/main.js');
const PORTS = { web: 6121, worker: 6122 };

/** The rows that the reader sees are those of one country; `hidden` is a word of all others, `nowhere` of none. */
const ROWS = `create table orders as
  select n as id,
    'Customer ' || (n * 7919) % 50000 as customer,
    (array['RU','DE','US','FR','CN','IN','BR','GB'])[1 + n * 17 % 8] as country,
    (n * 104729 % 1000000 / 100.0)::numeric(12,2) as amount,
    timestamptz '2022-01-01 00:00Z' + n * interval '94.6 seconds' as created,
    case when n * 17 % 8 = 3 then 'visible ' else 'hidden ' end || md5(n::text) as note
  from generate_series(1, ${rows}::bigint) n`;

type ResponseBody = Record<string, any>;

async function call(
  method: string,
  path: string,
  body?: object,
  token: keyof typeof TOKENS = 'superuser',
): Promise<ResponseBody> {
  const answer = await fetch(`http://127.0.0.1:${PORTS.web}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKENS[token]}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const said = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status} ${said}`);
  return said.startsWith('{') ? (JSON.parse(said) as ResponseBody) : {};
}

const medianOf = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1]!;

/** Returns medians of tasks that are run alternately. */
async function inTurns(works: Record<string, (round: number) => Promise<unknown>>): Promise<Record<string, number>> {
  const times = Object.fromEntries(Object.keys(works).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, work] of Object.entries(works)) {
      const began = performance.now();
      await work(round);
      times[name]!.push(performance.now() - began);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, medianOf(all)]));
}

async function runSql(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const dir = mkdtempSync('/tmp/dws-parts-');
execFileSync('chmod', ['711', dir]);
const postgres = await startEmbeddedPostgres({ dataDir: dir, durable: false });
const servers: Awaited<ReturnType<typeof startServer>>[] = [];
try {
  const source = postgres.url.replace(/dws$/, 'source');
  await runSql(postgres.url, 'create database source');
  await runSql(source, ROWS);
  const env = {
    DATABASE_URL: postgres.url,
    DATA_DIR: join(dir, 'data'),
    APP_SECRET: 'a secret for benchmarks of enough characters',
    NODE_ENV: 'production',
    RATE_LIMIT_API: '0',
    SEED_DEMO: 'false',
    LOG_LEVEL: 'warn',
  };
  execFileSync(process.execPath, [MAIN, 'migrate'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await fill(postgres.url, 1);
  for (const ROLE of ['web', 'worker'] as const)
    servers.push(
      await startServer(
        '0,1',
        [process.execPath, MAIN, 'serve', '--port', String(PORTS[ROLE])],
        { ...env, ROLE },
        `http://127.0.0.1:${PORTS[ROLE]}/healthz`,
      ),
    );
  const { hostname, port, username, password } = new URL(source);
  const { id: datasourceId } = await call('POST', '/api/datasources', {
    name: 'Orders',
    type: 'postgres',
    config: { host: hostname, port: Number(port), database: 'source', user: username },
    secrets: { password: decodeURIComponent(password) },
  });
  const createDataset = async (name: string, query: string): Promise<string> => {
    const { id } = await call('POST', '/api/datasets', { name, datasourceId, query, refresh: true });
    return `/api/datasets/${String(id)}`;
  };
  const many = await createDataset('Many', 'select * from orders');
  const few = await createDataset('Few', `select * from orders limit ${FEW}`);

  const clones = await inTurns(
    Object.fromEntries(
      [
        ['few', few],
        ['many', many],
      ].flatMap(([size, path]) => [
        [`snapshot, ${size}`, (round: number) => call('POST', `${path}/snapshots`, { name: `Snapshot ${round}` })],
        [`copy, ${size}`, (round: number) => call('POST', `${path}/copy`, { name: `Copy ${round}` })],
        [
          `draft, ${size}`,
          async () => {
            await call('POST', `${path}/_edit`);
            await call('DELETE', `${path}/draft`);
          },
        ],
      ]),
    ),
  );

  const { id: filter } = await call('POST', `${many}/filters`, { name: 'Part', criteria: { country: 'FR' } });
  await call('PUT', many, { fieldSecurityEnabled: true });
  const session = await call('GET', '/api/session', undefined, 'ordinary');
  await call('PUT', `${many}/shares/${String(session['user'].id ?? session['user'].username)}`, {
    accessLevel: 2,
    datasetFilterId: filter,
    restrictFields: true,
    visibleFields: ['id', 'customer', 'amount', 'created', 'note'],
  });
  const { id: visual } = await call('POST', `${many}/visuals`, {
    component: 'line-chart',
    config: { xAxis: 'created', dateInterval: 'month', yAxis: 'amount' },
  });
  const asked = (path: string, token: keyof typeof TOKENS) => () => call('GET', `${many}${path}`, undefined, token);
  for (const token of ['superuser', 'ordinary'] as const) await asked('/data?q=visible&limit=10', token)();
  const reads = await inTurns({
    'page, whole': asked('/data?sort=-amount&limit=100', 'superuser'),
    'page, part': asked('/data?sort=-amount&limit=100', 'ordinary'),
    'visual, whole': asked(`/visuals/${String(visual)}/data`, 'superuser'),
    'visual, part': asked(`/visuals/${String(visual)}/data`, 'ordinary'),
    'picture, whole': asked(`/visuals/${String(visual)}/image.svg`, 'superuser'),
    'q of hidden rows, part': asked('/data?q=hidden&limit=10', 'ordinary'),
    'q of no row, part': asked('/data?q=nowhere&limit=10', 'ordinary'),
    'q of all visible rows, part': asked('/data?q=visible&limit=10', 'ordinary'),
  });
  console.log(
    `| what | ms |\n|---|--:|\n${Object.entries({ ...clones, ...reads })
      .map(([what, ms]) => `| ${what} | ${ms.toFixed(1)} |`)
      .join('\n')}`,
  );
} finally {
  for (const server of servers) await stopServer(server);
  await postgres.close();
  rmSync(dir, { recursive: true, force: true });
}
