/**
 * Measures how long a victim waits for small reads while a neighbour, in another tenant and in its own, does its worst
 * in each of several ways (fairness/ways.ts), as a multiple of the time alone:
 * `npm run build && node bench/fairness.ts [ways=a,c20] [rows=1000000] [seconds=8] [dist=dist]`. `ways` are letters or
 * keys. Prints Markdown. One process of the service with every role, on a machine that is idle otherwise. Ends with
 * code 1 if the goal is missed: at most three times the p99 alone, and no error.
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts';
import { BASE, PORT } from './fairness/client.ts';
import type { Attack } from './fairness/neighbour.ts';
import { createReads, measure, OUTSIDE_GOAL, type Figures, type ReadName, type Reads } from './fairness/victim.ts';
import { WAYS, type Way } from './fairness/ways.ts';
import { createSource, createWorld, type Neighbour } from './fairness/world.ts';
import { printTable } from './markdown.ts';
import { cpuOf, POSTMASTER, startServer, stopServer } from './processes.ts';

const given = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('='))) as Record<
  string,
  string
>;
const { ways = '', rows = '1000000', seconds = '8', dist = 'dist' } = given;
const MAIN = join(import.meta.dirname, '..', dist, 'src/server/main.js');
const NEIGHBOUR = join(import.meta.dirname, 'fairness/neighbour.ts');

const MAX_RATIO = 3;
const LEAST_READS_ALONE = 60;
const LEAST_READS_ATTACKED = 30;
/** Time between the start of an attack and the measurement. */
const RAMP_MS = 1000;
/** The service is calm when it and Postgres use less than this part of a core for a second. */
const CALM_CPU = 0.15;
const CALM_TIMEOUT_MS = 180_000;

/** One row of the table. */
interface Result {
  way: Way;
  neighbour: 'near' | 'far';
  read: ReadName;
  alone: Figures;
  attacked: Figures;
  lag: number;
}

/** Returns the p99 of the event loop's delay since the last call, in milliseconds. */
async function eventLoopLag(): Promise<number> {
  const metrics = await (await fetch(`${BASE}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1000;
}

/** Waits until the service has finished what an attack left, and each read succeeds. */
async function untilCalm(reads: Partial<Reads>, ...pids: number[]): Promise<void> {
  const began = performance.now();
  const used = () => pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
  for (let before = used(), after: number; performance.now() - began < CALM_TIMEOUT_MS; before = after) {
    await sleep(1000);
    after = used();
    if (after - before > CALM_CPU) continue;
    const statuses = await Promise.all(
      Object.values(reads).map(({ run }) => run(AbortSignal.timeout(10_000)).catch(() => 0)),
    );
    if (statuses.every((status) => status === undefined || (status >= 200 && status < 300))) return;
    after = used();
  }
  console.error(`The service was not calm after ${CALM_TIMEOUT_MS / 1000} s`);
}

/** Measures the reads during an attack, then ends it. */
async function measureAttacked<N extends ReadName>(
  way: Way,
  neighbour: Neighbour,
  reads: Pick<Reads, N>,
): Promise<{ figures: Record<N, Figures>; lag: number }> {
  const paths = (await way.prepare?.(neighbour)) ?? [];
  const child = fork(NEIGHBOUR, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  // It would be on another machine: what it costs itself must not delay the service.
  setPriority(child.pid!, 19);
  const exited = once(child, 'exit');
  try {
    child.send({ key: way.key, neighbour, paths } satisfies Attack);
    await once(child, 'message');
    await eventLoopLag();
    await sleep(RAMP_MS);
    const figures = await measure(reads, {
      seconds: Number(seconds),
      leastReads: LEAST_READS_ATTACKED,
      mostSeconds: 2 * Number(seconds),
    });
    return { figures, lag: await eventLoopLag() };
  } finally {
    child.kill('SIGKILL');
    await exited;
    await way.cleanUp?.(neighbour, paths);
  }
}

const isInGoal = ({ read }: Result): boolean => !OUTSIDE_GOAL.has(read);

const isMet = ({ alone, attacked }: Result): boolean =>
  attacked.p99 <= MAX_RATIO * alone.p99 && attacked.unavailable === 0 && attacked.failed === 0;

function print(results: Result[]): void {
  const ms = (number: number) => (Number.isNaN(number) ? '–' : number.toFixed(number < 100 ? 1 : 0));
  const times = ({ p50, p99, max }: Figures) => [p50, p99, max].map(ms);
  const header =
    'way, neighbour in, read, alone p50 ms, p99, max, attacked p50 ms, p99, max, × p99, reads, 503, other errors, ' +
    'event loop delay p99 ms, goal';
  printTable(
    header.split(', '),
    results.map((result) => {
      const { way, neighbour, read, alone, attacked, lag } = result;
      return [
        `${way.key}: ${way.title}`,
        neighbour === 'near' ? 'same tenant' : 'other tenant',
        read,
        ...times(alone),
        ...times(attacked),
        ms(attacked.p99 / alone.p99),
        String(attacked.reads),
        String(attacked.unavailable),
        String(attacked.failed),
        ms(lag),
        isInGoal(result) ? (isMet(result) ? 'met' : 'missed') : '',
      ];
    }),
  );
}

const dir = mkdtempSync('/tmp/dws-fairness-');
execFileSync('chmod', ['711', dir]);
const postgres = await startEmbeddedPostgres({ dataDir: dir, durable: false });
const servers: Awaited<ReturnType<typeof startServer>>[] = [];
try {
  const source = await createSource(postgres.url, Number(rows));
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const postmaster = Number((await client.query<{ pid: string }>(POSTMASTER)).rows[0]!.pid);
  await client.end();
  const env = {
    DATABASE_URL: postgres.url,
    DATA_DIR: join(dir, 'data'),
    APP_SECRET: 'a secret for benchmarks of enough characters',
    NODE_ENV: 'production',
    RATE_LIMIT_API: '0',
    SEED_DEMO: 'false',
    LOG_LEVEL: 'silent',
    ROLE: 'all',
  };
  const service = await startServer(
    '0,1',
    [process.execPath, MAIN, 'serve', '--port', String(PORT)],
    env,
    `${BASE}/readyz`,
  );
  servers.push(service);
  const world = await createWorld(postgres.url, source);
  const reads = createReads(world.victim);

  const alone = new Map<string, Record<string, Figures>>();
  const results: Result[] = [];
  const isSelected = ({ key }: Way) => !ways || ways.split(',').some((word) => word === key || word === key[0]);
  for (const way of WAYS.filter(isSelected)) {
    const names: ReadName[] = ['page', 'GraphQL page', ...(way.reads ?? [])];
    const chosen = Object.fromEntries(names.map((name) => [name, reads[name]])) as Reads;
    const prepare = async () => {
      await untilCalm(chosen, service.pid!, postmaster);
      for (const name of names) await reads[name].prepare?.();
    };
    if (!alone.has(names.join())) {
      await prepare();
      console.error(`${way.key}: alone`);
      const duration = { seconds: 5, leastReads: LEAST_READS_ALONE, mostSeconds: 60 };
      alone.set(names.join(), await measure(chosen, duration));
    }
    for (const neighbour of ['far', 'near'] as const) {
      await prepare();
      console.error(`${way.key}: ${way.title}, ${neighbour}`);
      const { figures, lag } = await measureAttacked(way, world[neighbour], chosen);
      for (const read of names)
        results.push({ way, neighbour, read, alone: alone.get(names.join())![read]!, attacked: figures[read], lag });
    }
  }

  console.log(`## Fairness: ${rows} rows, ${seconds} s each\n`);
  print(results);
  const missed = results.filter((result) => isInGoal(result) && !isMet(result)).length;
  const goal = `at most ${MAX_RATIO} times the p99 alone and no error`;
  console.log(
    `\nGoal (${goal}): ${missed === 0 ? 'met' : `missed by ${missed} of ${results.filter(isInGoal).length}`}`,
  );
  if (missed > 0) process.exitCode = 1;
} finally {
  for (const server of servers) await stopServer(server);
  await postgres.close();
  rmSync(dir, { recursive: true, force: true });
}
