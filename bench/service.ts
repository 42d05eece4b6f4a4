/** The built service with its processes and an embedded Postgres, for one benchmark. */
import { execFileSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts';
import { freePort } from '../tools/engine.ts';
import { TOKENS } from './fill.ts';
import { prepareService } from './prepare-service.ts';
import { POSTMASTER, SERVICE_FLAGS, startServer, stopServer } from './processes.ts';

/** Processes to start. The first role is the process that receives requests. */
interface ServiceOptions {
  roles: readonly ('all' | 'web' | 'worker')[];
  /** The folder of the build. */
  dist: string;
  /** Cores of the service; both by default. */
  cores?: string;
  /** Port of the first process; a free one by default. */
  port?: number;
  /** Options of Node. */
  node?: readonly string[];
  env?: Record<string, string>;
}

export type ResponseBody = Record<string, any>;

/** The running service, with the users of fill.ts. */
export interface Service {
  /** URL without a path. */
  base: string;
  databaseUrl: string;
  env: Record<string, string>;
  /** Process ids, in the order of the roles. */
  pids: number[];
  postmaster: number;
  /** Returns the number of statements that Postgres executes during `work`; only of the embedded one. */
  statementsOf(work: () => Promise<unknown>): Promise<number>;
  /** Sends JSON, or a form, and returns the JSON of the response. Throws unless the request succeeds. */
  call(method: string, path: string, body?: object, token?: string): Promise<ResponseBody>;
  /** Creates a database `source` by these statements and a datasource of it. Returns the URL and the datasource's id. */
  createSource(...statements: string[]): Promise<{ url: string; datasourceId: string }>;
}

/** Runs statements one by one and returns the rows of the last one. */
export async function runSql(url: string, ...statements: string[]): Promise<pg.QueryResultRow[]> {
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

/** Returns the p99 of the event loop's delay since the last call, in milliseconds. */
export async function eventLoopDelay(base: string): Promise<number> {
  const metrics = await (await fetch(`${base}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1000;
}

/** Returns the program of a build. */
export const mainOf = (dist: string): string => join(import.meta.dirname, '..', dist, 'src/server/main.js');

/** Starts the service on a filled database, runs `work` and removes everything. DATABASE_URL replaces the database. */
export async function withService<T>(options: ServiceOptions, work: (service: Service) => Promise<T>): Promise<T> {
  const { roles, dist, cores = '0,1', node = [] } = options;
  const dir = mkdtempSync('/tmp/dws-bench-');
  execFileSync('chmod', ['711', dir]);
  const given = process.env['DATABASE_URL'];
  const embedded = given ? undefined : await startEmbeddedPostgres({ dataDir: dir, durable: false });
  const databaseUrl = given ?? embedded!.url;
  const running: ChildProcess[] = [];
  try {
    const env = { ...(await prepareService(mainOf(dist), databaseUrl, dir)), ...options.env };
    const ports: number[] = [];
    for (const [i, ROLE] of roles.entries()) {
      ports.push(i === 0 && options.port ? options.port : await freePort());
      const command = [process.execPath, ...SERVICE_FLAGS, ...node, mainOf(dist), 'serve', '--port', String(ports[i])];
      running.push(await startServer(cores, command, { ...env, ROLE }, `http://127.0.0.1:${ports[i]}/readyz`));
    }
    const base = `http://127.0.0.1:${ports[0]}`;
    const call = callerOf(base);
    return await work({
      base,
      databaseUrl,
      env,
      pids: running.map(({ pid }) => pid!),
      postmaster: Number((await runSql(databaseUrl, POSTMASTER))[0]!['pid']),
      call,
      statementsOf: (work) => statementsOf(databaseUrl, join(dir, 'postgres.log'), work),
      createSource: async (...statements) => {
        const url = databaseUrl.replace(/dws$/, 'source');
        await runSql(databaseUrl, 'create database source');
        await runSql(url, ...statements);
        return { url, datasourceId: await createDatasource(call, url) };
      },
    });
  } finally {
    for (const child of running) await stopServer(child);
    await embedded?.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function statementsOf(url: string, log: string, work: () => Promise<unknown>): Promise<number> {
  await runSql(url, `alter system set log_statement = 'all'`, 'select pg_reload_conf()');
  await setTimeout(500);
  const before = statSync(log).size;
  await work();
  await setTimeout(100);
  const text = readFileSync(log, 'utf8').slice(before);
  await runSql(url, 'alter system reset log_statement', 'select pg_reload_conf()');
  return text.match(/ LOG: {2}(statement|execute [^:]+): /g)?.length ?? 0;
}

const callerOf =
  (base: string): Service['call'] =>
  async (method, path, body, token = TOKENS.superuser) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status} ${text}`);
    return response.headers.get('content-type')?.includes('json') && text ? (JSON.parse(text) as ResponseBody) : {};
  };

async function createDatasource(call: Service['call'], url: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const { id } = await call('POST', '/api/datasources', {
    name: 'Source',
    type: 'postgres',
    config: { host: hostname, port: Number(port), database: pathname.slice(1), user: username },
    secrets: { password: decodeURIComponent(password) },
  });
  return String(id);
}
