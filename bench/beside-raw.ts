/**
 * Measures requests to the service against requests to the lower bound (raw-server.ts), on the same rows and in one
 * interleaved run. Servers run on core 0; load and Postgres on core 1. DATABASE_URL replaces the temporary Postgres.
 */
import { join } from 'node:path';
import type { GoalName } from './goals.ts';
import { sendLoad, type Load, type Outcome } from './load.ts';
import { printTable } from './markdown.ts';
import { cpuOf, memoryOf, pin, startServer, stopServer } from './processes.ts';
import type { Measurement } from './report.ts';
import { runSql, withService } from './service.ts';

/** Options of the command line that every measurement against the raw server has. */
export const DEFAULTS = { rows: '10000', seconds: '3', rounds: '3', warm: '8', dist: 'dist', profile: '' };

const SERVER_CORE = '0';
const LOAD_CORE = '1';
const PORTS = { raw: 6101, service: 6102 };
type Server = keyof typeof PORTS;

/** One workload on one server: a line of the printed table. The first two characters of its name are the workload. */
export interface Cell extends Pick<Load, 'requests' | 'cycle'> {
  name: string;
  server: Server;
  /** Number of queries with their owners in the response to the first request. */
  items?: number;
}

/** CPU times are microseconds per request. */
export interface Result extends Outcome {
  cpu: number;
  postgres: number;
}

/** The running servers. */
export interface BesideRaw {
  databaseUrl: string;
  /** Measures every cell in every round, every second round in reverse order, and returns medians. */
  measure(cells: Cell[]): Promise<Map<string, Result>>;
  /** Returns the resident memory of the service in MiB. */
  memory(): number;
}

const load = ({ server, requests, cycle = false }: Cell, seconds: number): Promise<Outcome> =>
  sendLoad({ port: PORTS[server], connections: 16, seconds, requests, cycle });

/** Sends the first request and checks its response. */
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

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Starts the service and the raw server. */
export async function besideRaw<T>(options: typeof DEFAULTS, work: (servers: BesideRaw) => Promise<T>): Promise<T> {
  pin(LOAD_CORE);
  const { dist, profile } = options;
  const node = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
  return withService({ roles: ['web'], dist, cores: SERVER_CORE, port: PORTS.service, node }, async (service) => {
    const [pid, { postmaster, databaseUrl }] = [service.pids[0]!, service];
    const raw = await startServer(
      SERVER_CORE,
      [process.execPath, join(import.meta.dirname, 'raw-server.ts')],
      { DATABASE_URL: databaseUrl, PORT: String(PORTS.raw) },
      `http://127.0.0.1:${PORTS.raw}/`,
    );
    const measureOnce = async (cell: Cell): Promise<Result> => {
      const used = () => [cpuOf(cell.server === 'raw' ? raw.pid! : pid), cpuOf(postmaster)] as const;
      const before = used();
      const outcome = await load(cell, Number(options.seconds));
      const [cpu, postgres] = used().map((now, i) => ((now - before[i]!) * 1e6) / outcome.answers);
      if (cell.cycle) await runSql(databaseUrl, 'vacuum (analyze)');
      return { ...outcome, cpu: cpu!, postgres: postgres! };
    };
    const measure = async (cells: Cell[]) => {
      const all = new Map<string, Result[]>(cells.map(({ name }) => [name, []]));
      for (const cell of cells) {
        if (cell.items !== undefined) await check(cell);
        // V8 optimizes only what ran some thousand times, and lists with totals run only some hundred times a second.
        await load(cell, Number(options.warm));
      }
      for (let round = 0; round < Number(options.rounds); round++)
        for (const cell of round % 2 ? cells.toReversed() : cells) all.get(cell.name)!.push(await measureOnce(cell));
      return new Map([...all].map(([name, results]) => [name, medians(results)]));
    };
    try {
      return await work({ databaseUrl, measure, memory: () => memoryOf(pid) });
    } finally {
      await stopServer(raw);
    }
  });
}

const medians = (results: Result[]): Result =>
  Object.fromEntries(
    Object.keys(results[0]!).map((key) => [key, median(results.map((result) => result[key as keyof Result]))]),
  ) as unknown as Result;

/** Returns the result of the raw server in the workload of this cell, if it was measured. */
const rawOf = (results: Map<string, Result>, name: string): Result | undefined =>
  results.get(`${name.slice(0, 2)} raw`);

/** Returns CPU times as multiples of the raw server's. */
export const besides = (
  results: Map<string, Result>,
  key: 'cpu' | 'postgres',
  goalOf: (workload: string) => GoalName,
): Measurement[] =>
  [...results]
    .filter(([name]) => !name.endsWith('raw'))
    .map(([name, result]) => ({
      what: `${name}, ${key === 'cpu' ? 'server' : 'Postgres'} CPU`,
      goal: goalOf(name.slice(0, 2)),
      value: result[key] / rawOf(results, name)![key],
    }));

/** Prints results with their multiples of the raw server. */
export function printResults(title: string, results: Map<string, Result>): void {
  console.log(`\n## ${title}\n`);
  const figures = ([name, { cpu, postgres, p50, p99, answers, bytes, seconds }]: [string, Result]) => {
    const raw = rawOf(results, name);
    const times = (value: number, of?: number) => [value.toFixed(0), of ? (value / of).toFixed(2) : ''];
    return [
      name,
      ...times(cpu, raw?.cpu),
      ...times(postgres, raw?.postgres),
      p50.toFixed(1),
      p99.toFixed(1),
      (answers / seconds).toFixed(0),
      (bytes / answers).toFixed(0),
    ];
  };
  const header = 'workload, server CPU µs, × raw, Postgres CPU µs, × raw, p50 ms, p99 ms, requests/s, bytes';
  printTable(header.split(', '), [...results].map(figures));
}
