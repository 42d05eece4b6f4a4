/**
 * Measures how long a victim waits for small reads while a neighbour, in another tenant and in its own, does its worst
 * in each of several ways (fairness/ways.ts), as a multiple of the time alone:
 * `npm run build && node bench/fairness.ts [ways=a,c20] [rows=1000000] [seconds=8] [dist=dist]`. `ways` are letters or
 * keys. Prints Markdown. One process of the service with every role, on a machine that is idle otherwise. The
 * table has the worst read of each way.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE, PORT } from './fairness/client.ts';
import type { Attack } from './fairness/neighbour.ts';
import { createReads, measure, OUTSIDE_GOAL, type Figures, type ReadName, type Reads } from './fairness/victim.ts';
import { WAYS, type Way } from './fairness/ways.ts';
import { createSource, createWorld, type Neighbour } from './fairness/world.ts';
import { GOALS } from './goals.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { cpuOf } from './processes.ts';
import { report, type Measurement } from './report.ts';
import { eventLoopDelay, withService } from './service.ts';

const { ways, rows, seconds, dist } = readOptions({ ways: '', rows: '1000000', seconds: '8', dist: 'dist' });
const NEIGHBOUR = join(import.meta.dirname, 'fairness/neighbour.ts');

const MAX_RATIO = GOALS.neighbour.atMost;
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
    await eventLoopDelay(BASE);
    await sleep(RAMP_MS);
    const figures = await measure(reads, {
      seconds: Number(seconds),
      leastReads: LEAST_READS_ATTACKED,
      mostSeconds: 2 * Number(seconds),
    });
    return { figures, lag: await eventLoopDelay(BASE) };
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

const started = { roles: ['all'], dist, port: PORT, env: { LOG_LEVEL: 'silent', RATE_LIMIT_WEBHOOK: '0' } } as const;
await withService(started, async ({ databaseUrl, postmaster, pids }) => {
  const service = pids[0]!;
  const source = await createSource(databaseUrl, Number(rows));
  const world = await createWorld(databaseUrl, source);
  const reads = createReads(world.victim);

  const alone = new Map<string, Record<string, Figures>>();
  const results: Result[] = [];
  const isSelected = ({ key }: Way) => !ways || ways.split(',').some((word) => word === key || word === key[0]);
  for (const way of WAYS.filter(isSelected)) {
    const names: ReadName[] = ['page', 'GraphQL page', ...(way.reads ?? [])];
    const chosen = Object.fromEntries(names.map((name) => [name, reads[name]])) as Reads;
    const prepare = async () => {
      await untilCalm(chosen, service, postmaster);
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
  const judged = results.filter(isInGoal);
  const worstOf = (way: Way): number =>
    Math.max(...judged.filter((one) => one.way === way).map(({ alone, attacked }) => attacked.p99 / alone.p99));
  report([
    ...[...new Set(judged.map(({ way }) => way))].map((way): Measurement => ({
      what: `neighbour, ${way.key}: ${way.title}, p99`,
      goal: 'neighbour',
      value: worstOf(way),
    })),
    {
      what: 'reads that failed next to a neighbour',
      goal: 'neighbourFailures',
      value: judged.reduce((sum, { attacked }) => sum + attacked.unavailable + attacked.failed, 0),
    },
  ]);
});
