/**
 * Measures reads through both APIs as a multiple of the lower bound (raw-server.ts), on the same rows and in one
 * interleaved run. Prints Markdown. Usage:
 * `npm run build && node bench/reads.ts [rows=10000] [seconds=3] [rounds=3] [warm=8] [growth=1000,100000] [dist=dist]`.
 *
 * Workloads, each by REST and by GraphQL, as a superuser and as an ordinary user whose access filter selects half of
 * the rows:
 * - W1: 30 saved queries sorted by name, with their owners and the total.
 * - W3: one saved query with its owner, a different one in each request.
 *
 * Servers run on core 0; load and Postgres on core 1. DATABASE_URL replaces the temporary Postgres.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts';
import { fill, TOKENS } from './fill.ts';
import type { Load, Outcome } from './load.ts';
import { printTable } from './markdown.ts';
import { cpuOf, memoryOf, pin, POSTMASTER, SERVICE_FLAGS, startServer, stopServer } from './processes.ts';

const options = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('='))) as Record<
  string,
  string
>;
const {
  rows = '10000',
  seconds = '3',
  rounds = '3',
  warm = '8',
  growth = '1000,100000',
  dist = 'dist',
  only,
} = options;
const SERVER_CORE = '0';
const LOAD_CORE = '1';
const PORTS = { raw: 6101, service: 6102 };
const HERE = import.meta.dirname;
const MAIN = join(HERE, '..', dist, 'src/server/main.js');

/** GraphQL selection of the fields that the raw server returns. */
export const FIELDS =
  'id name slug description datasourceId language params { name } version createdAt updatedAt owner { id name }';
const listQuery = (total: boolean) =>
  `query List($limit: Int) { savedQueries(limit: $limit, sort: "name") { ${total ? 'total ' : ''}items { ${FIELDS} } } }`;
const ONE = `query One($id: ID!) { savedQuery(id: $id) { ${FIELDS} } }`;

type Server = keyof typeof PORTS;
/** One workload on one server: a line of the printed table. */
interface Cell {
  name: string;
  server: Server;
  requests: string[];
  items: number;
}
/** CPU times are microseconds per request. */
interface Result extends Outcome {
  cpu: number;
  postgres: number;
}

const idOf = (n: number): string =>
  createHash('md5')
    .update(`job${n}`)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
/** Ids of every second saved query. The ordinary user owns these. */
const ids = Array.from({ length: 200 }, (_, index) => idOf(2 * index + 2));

const getRequest = (path: string, token = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: bench\r\n${token && `authorization: Bearer ${token}\r\n`}\r\n`;
const graphqlRequest = (query: string, variables: object, token: string): string => {
  const body = JSON.stringify({ query, variables });
  const head = [
    'POST /graphql HTTP/1.1',
    'host: bench',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
};

function allCells(): Cell[] {
  const cellsOf = (user: keyof typeof TOKENS): Cell[] => [
    {
      name: `W1 REST ${user}`,
      server: 'service',
      items: 30,
      requests: [getRequest('/api/queries?limit=30&sort=name', TOKENS[user])],
    },
    {
      name: `W1 GraphQL ${user}`,
      server: 'service',
      items: 30,
      requests: [graphqlRequest(listQuery(true), { limit: 30 }, TOKENS[user])],
    },
    {
      name: `W3 REST ${user}`,
      server: 'service',
      items: 1,
      requests: ids.map((id) => getRequest(`/api/queries/${id}`, TOKENS[user])),
    },
    {
      name: `W3 GraphQL ${user}`,
      server: 'service',
      items: 1,
      requests: ids.map((id) => graphqlRequest(ONE, { id }, TOKENS[user])),
    },
  ];
  return [
    { name: 'W1 raw', server: 'raw', items: 30, requests: [getRequest('/queries')] },
    { name: 'W3 raw', server: 'raw', items: 1, requests: ids.map((id) => getRequest(`/queries/${id}`)) },
    ...cellsOf('superuser'),
    ...cellsOf('ordinary'),
  ];
}
const growing: Cell = {
  name: 'W1 GraphQL superuser, no total',
  server: 'service',
  items: 30,
  requests: [graphqlRequest(listQuery(false), { limit: 30 }, TOKENS.superuser)],
};

async function load(port: number, requests: string[], time: number): Promise<Outcome> {
  const work: Load = { port, connections: 16, seconds: time, requests };
  const child = spawn(process.execPath, [join(HERE, 'load.ts'), JSON.stringify(work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout)) as Outcome;
}

/** Sends one request and checks its response. */
async function check({ name, server, requests, items }: Cell): Promise<void> {
  const [head, body] = requests[0]!.split('\r\n\r\n');
  const [start, , ...headers] = head!.split('\r\n');
  const [method, path] = start!.split(' ');
  const response = await fetch(`http://127.0.0.1:${PORTS[server]}${path}`, {
    method,
    headers: headers
      .filter((line) => !line.startsWith('content-length'))
      .map((line) => line.split(': ') as [string, string]),
    ...(body && { body }),
  });
  const json = await response.text();
  if (
    !response.ok ||
    json.includes('"errors"') ||
    (json.match(/"Job \d+ of/g) ?? []).length !== items ||
    (json.match(/User Number/g) ?? []).length !== items
  )
    throw new Error(`${name} returned ${response.status} ${json.slice(0, 500)}`);
}

const running = {} as Record<Server, ChildProcess>;
let postmaster = 0;

async function measure({ server, requests }: Cell): Promise<Result> {
  const root = running[server].pid!;
  const before = [cpuOf(root), cpuOf(postmaster)] as const;
  const outcome = await load(PORTS[server], requests, Number(seconds));
  if (outcome.failures > 0) throw new Error(`${outcome.failures} responses had another status than 200`);
  const perRequest = (used: number) => (used * 1e6) / outcome.answers;
  return { ...outcome, cpu: perRequest(cpuOf(root) - before[0]), postgres: perRequest(cpuOf(postmaster) - before[1]) };
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Measures every cell in every round, every second round in reverse order, and returns medians. */
async function interleaved(cells: Cell[]): Promise<Map<string, Result>> {
  const all = new Map<string, Result[]>(cells.map(({ name }) => [name, []]));
  for (const cell of cells) {
    await check(cell);
    // V8 optimizes only what ran some thousand times, and lists with totals run only some hundred times a second.
    await load(PORTS[cell.server], cell.requests, Number(warm));
  }
  for (let round = 0; round < Number(rounds); round++)
    for (const cell of round % 2 ? cells.toReversed() : cells) all.get(cell.name)!.push(await measure(cell));
  return new Map(
    [...all].map(([name, results]) => [
      name,
      Object.fromEntries(
        Object.keys(results[0]!).map((key) => [key, median(results.map((result) => result[key as keyof Result]))]),
      ) as unknown as Result,
    ]),
  );
}

function print(title: string, results: Map<string, Result>): void {
  console.log(`\n## ${title}\n`);
  const figures = ([name, { cpu, postgres, p50, p99, answers, bytes, seconds: took }]: [string, Result]) => {
    const raw = results.get(`${name.slice(0, 2)} raw`)?.cpu;
    return [
      name,
      cpu.toFixed(0),
      raw ? (cpu / raw).toFixed(2) : '',
      postgres.toFixed(0),
      p50.toFixed(1),
      p99.toFixed(1),
      (answers / took).toFixed(0),
      (bytes / answers).toFixed(0),
    ];
  };
  const header = 'workload, server CPU µs, × raw, Postgres CPU µs, p50 ms, p99 ms, requests/s, bytes';
  printTable(header.split(', '), [...results].map(figures));
}

pin(LOAD_CORE);
const dir = mkdtempSync('/tmp/dws-reads-');
execFileSync('chmod', ['711', dir]);
const embedded = process.env['DATABASE_URL']
  ? undefined
  : await startEmbeddedPostgres({ dataDir: dir, durable: false });
try {
  const DATABASE_URL = process.env['DATABASE_URL'] ?? embedded!.url;
  const env = {
    DATABASE_URL,
    DATA_DIR: join(dir, 'data'),
    APP_SECRET: 'a secret for benchmarks of enough characters',
    NODE_ENV: 'production',
    RATE_LIMIT_API: '0',
    ROLE: 'web',
    SEED_DEMO: 'false',
    LOG_LEVEL: 'warn',
  };
  execFileSync(process.execPath, [MAIN, 'migrate'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  postmaster = Number((await client.query<{ pid: string }>(POSTMASTER)).rows[0]!.pid);
  await fill(DATABASE_URL, Number(rows));
  await client.end();

  running.raw = await startServer(
    SERVER_CORE,
    [process.execPath, join(HERE, 'raw-server.ts')],
    { ...env, PORT: String(PORTS.raw) },
    `http://127.0.0.1:${PORTS.raw}/`,
  );
  const profile = options['profile'] ? ['--cpu-prof', `--cpu-prof-dir=${options['profile']}`] : [];
  running.service = await startServer(
    SERVER_CORE,
    [process.execPath, ...SERVICE_FLAGS, ...profile, MAIN, 'serve', '--port', String(PORTS.service)],
    env,
    `http://127.0.0.1:${PORTS.service}/healthz`,
  );
  const selected = allCells().filter(
    ({ name }) => !only || name.includes('raw') || only.split(',').some((word) => name.includes(word)),
  );
  print(`Reads of ${rows} queries`, await interleaved(selected));
  for (const size of growth.split(',').filter(Boolean)) {
    await fill(DATABASE_URL, Number(size));
    print(`Growth: ${size} queries`, await interleaved([growing]));
  }
  console.log(`\nMemory of the service afterwards: ${memoryOf(running.service.pid!).toFixed(0)} MiB`);
} finally {
  for (const child of Object.values(running)) await stopServer(child);
  await embedded?.close();
  rmSync(dir, { recursive: true, force: true });
}
