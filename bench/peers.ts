/**
 * Measures the service against other products with the harness in the folder PEERS (see its README):
 * `PEERS=../shared/bench npm run bench:peers [seconds=5] [rounds=3] [growth=yes] [only=names of contenders]`. Installs
 * them below `.cache/peers`, or in the folder BENCH; NO_DIRECTUS=1 leaves out Directus, which takes most of the time.
 * Prints the harness's report and a line for each goal. The harness pins servers to one core, Postgres and load to the
 * other, and needs ports 5544 (PGPORT) and 6001 to 6012.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { GoalName } from './goals.ts';
import { readOptions } from './options.ts';
import { printReport, type Measurement } from './report.ts';

const { seconds, rounds, growth, only } = readOptions({ seconds: '5', rounds: '3', growth: 'yes', only: '' });
const peers = resolve(process.env['PEERS'] ?? '../shared/bench');
if (!existsSync(join(peers, 'run.sh')))
  throw new Error(`There is no run.sh in ${peers}: PEERS must name the folder of the peers' benchmark`);
const folder = resolve(process.env['BENCH'] ?? join(import.meta.dirname, '../.cache/peers'));

/** Records of the harness for one workload of one contender in one round; CPU times are microseconds per request. */
interface Recorded {
  rows: number;
  wl: string;
  contender: string;
  round: number;
  cpuUs: number;
  pgUs: number;
}

/** Runs a script of the harness. A signal to this process ends the script and all that it started. */
async function run(script: string, ...args: string[]): Promise<void> {
  const child = spawn(join(peers, script), args, {
    stdio: 'inherit',
    detached: true,
    env: {
      ...process.env,
      BENCH: folder,
      CONTENDER: join(import.meta.dirname, 'contender.cjs'),
      CONTENDER_SIZE: join(import.meta.dirname, 'contender-size'),
    },
  });
  const stop = () => process.kill(-child.pid!, 'SIGTERM');
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (code !== 0) throw new Error(`${script} ${args.join(' ')} ended with ${signal ?? `code ${code}`}`);
}

function recordsOf(name: string): Recorded[] {
  const file = join(folder, 'run', `${name}.jsonl`);
  if (!existsSync(file)) return [];
  return (
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Recorded)
      // Without a single response in a round there is no cost.
      .filter(({ cpuUs }) => cpuUs !== null)
  );
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Returns the median over rounds of a cost, as a multiple of another record of the same round and workload. */
function ratioOf(
  records: Recorded[],
  cost: (record: Recorded) => number,
  isOurs: (record: Recorded) => boolean,
  isReference: (record: Recorded, ours: Recorded) => boolean,
): number | undefined {
  const ratios = records.filter(isOurs).flatMap((ours) => {
    const reference = records.find((one) => one.wl === ours.wl && one.round === ours.round && isReference(one, ours));
    return reference ? [cost(ours) / cost(reference)] : [];
  });
  return ratios.length > 0 ? median(ratios) : undefined;
}

const cpu = ({ cpuUs }: Recorded): number => cpuUs;
const postgres = ({ pgUs }: Recorded): number => pgUs;
const both = ({ cpuUs, pgUs }: Recorded): number => cpuUs + pgUs;

/** Returns the lines of the goals that these records decide. */
function measurementsOf(http: Recorded[], grown: Recorded[]): Measurement[] {
  const lines: Measurement[] = [];
  const add = (what: string, goal: GoalName, value: number | undefined) =>
    lines.push(
      value === undefined ? { what, goal, missing: 'the harness has no record of it' } : { what, goal, value },
    );
  for (const contender of ['ours-rest', 'ours-graphql']) {
    const besideRaw = (workload: string, cost: typeof cpu) =>
      ratioOf(
        http,
        cost,
        (one) => one.wl === workload && one.contender === contender,
        (one) => one.contender === 'nodehttp-pg',
      );
    add(`W1 ${contender}, server CPU`, 'w1', besideRaw('w1_list', cpu));
    add(`W3 ${contender}, server CPU`, 'w3', besideRaw('w3_one', cpu));
    add(`W4 ${contender}, server CPU`, 'w4', besideRaw('w4_cud', cpu));
    add(`W4 ${contender}, Postgres CPU`, 'w4Postgres', besideRaw('w4_cud', postgres));
    const atMost = (one: Recorded, workload: string) =>
      one.contender === contender && one.wl === workload && one.rows === 100_000;
    const few = (one: Recorded) => one.contender === contender && one.rows === 1000;
    const peer = (one: Recorded) => one.contender === 'postgraphile' && one.rows === 100_000;
    add(
      `W4 ${contender}, server CPU at 100,000 jobs`,
      'w4Growth',
      ratioOf(grown, cpu, (one) => atMost(one, 'w4_cud'), few),
    );
    add(
      `W4 ${contender}, Postgres CPU at 100,000 jobs`,
      'w4Growth',
      ratioOf(grown, postgres, (one) => atMost(one, 'w4_cud'), few),
    );
    add(
      `W1 ${contender}, all CPU at 100,000 jobs`,
      'w1Total',
      ratioOf(grown, both, (one) => atMost(one, 'w1_list'), peer),
    );
  }
  lines.push({ what: 'W2', goal: 'w2', missing: 'measured by bench/reads.ts' });
  return lines;
}

const narrowed = [`secs=${seconds}`, `rounds=${rounds}`, ...(only ? [`only=${only}`] : [])];
await run('install.sh');
try {
  await run('run.sh', 'setup');
  await run('run.sh', 'http', ...narrowed);
  if (growth === 'yes') await run('run.sh', 'growth', 'wl=w1_list,w3_one,w4_cud', ...narrowed);
  const lines = measurementsOf(recordsOf('http10k'), growth === 'yes' ? recordsOf('growth') : []);
  // It ends with code 1 unless there are records of every kind, including kinds that are not measured here.
  await run('run.sh', 'report').catch(({ message }: Error) => console.error(message));
  printReport(lines);
} finally {
  await run('pg.sh', 'stop');
}
