/**
 * Runs the benchmarks that measure a goal one after another and prints one table:
 * `npm run bench [quick] [full] [only=reads,writes]`. `quick` takes few minutes and uses small numbers, so its
 * verdicts say little about data; `full` adds a refresh of 10 million rows. Further output of each benchmark is in
 * `.cache/bench/<name>.md`. Ends with code 0 whatever the verdicts: it measures, it does not test.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GoalName } from './goals.ts';
import { LINES_FILE, printReport, type Measurement } from './report.ts';

/** A benchmark with the options of its usual and of its quick run. */
interface Benchmark {
  file: string;
  usual: string[];
  /** Undefined if the quick run leaves it out. */
  quick?: string[];
  /** True if only the full run has it. */
  full?: boolean;
  /** Why it cannot run here; undefined if it can. */
  missing?: string | undefined;
  /** Its goals, which stand in the table when it does not run. */
  goals: GoalName[];
}

// Only one benchmark takes the search engine. The others measure the embedded index.
const { ELASTICSEARCH_URL: engine, ...environment } = process.env;
const FEW = ['seconds=1', 'rounds=1', 'warm=3'];

const BENCHMARKS: Record<string, Benchmark> = {
  reads: {
    file: 'reads',
    usual: ['seconds=2', 'warm=6'],
    quick: [...FEW, 'growth='],
    goals: ['w1', 'w2', 'w3', 'w1Growth', 'feedPage'],
  },
  writes: {
    file: 'writes',
    usual: ['seconds=2', 'warm=4'],
    quick: [...FEW, 'growth='],
    goals: ['w4', 'w4Postgres', 'w4Growth'],
  },
  start: {
    file: 'start',
    usual: [],
    quick: ['starts=2', 'idle=5', 'seconds=5'],
    goals: ['startReady', 'idleMemory', 'busyMemory'],
  },
  upload: { file: 'upload', usual: [], quick: ['rounds=5'], goals: ['smallUpload', 'smallRefresh'] },
  refresh: {
    file: 'refresh',
    usual: [],
    quick: ['rows=100000', 'rounds=1'],
    goals: ['refreshRows', 'refreshCpu', 'loaderMemory', 'webMemory', 'webDelay'],
  },
  memory: { file: 'memory', usual: [], full: true, goals: ['flatMemory'] },
  drivers: { file: 'drivers', usual: [], quick: ['rows=100000', 'rounds=1'], goals: ['driverRows', 'driverCpu'] },
  elasticsearch: {
    file: 'elasticsearch',
    usual: [engine ?? ''],
    missing: engine ? undefined : 'ELASTICSEARCH_URL is not set',
    goals: ['bulk'],
  },
  index: {
    file: 'dataset-index',
    usual: [],
    quick: ['rows=100000', 'rounds=5'],
    goals: ['page', 'aggregate', 'words'],
  },
  parts: { file: 'parts', usual: ['twins=no'], quick: ['twins=no', 'rows=50000', 'rounds=5'], goals: ['clone'] },
  lists: { file: 'lists', usual: [], quick: ['sizes=1000', 'seconds=1', 'warm=1'], goals: ['listGrowth'] },
  crowd: {
    file: 'crowd',
    usual: [],
    quick: ['rows=20000', 'seconds=4', 'open=10', 'refreshes=4'],
    goals: ['besideRefreshes', 'openPage', 'openMemory'],
  },
  renderings: { file: 'renderings', usual: [], quick: ['rows=500', 'seconds=3'], goals: ['renderDelay'] },
  progress: { file: 'progress', usual: [], quick: ['events=30'], goals: ['progress'] },
  jobs: {
    file: 'jobs',
    usual: [],
    quick: ['jobs=1000', 'idle=10000', 'seconds=10', 'spread=0'],
    goals: ['jobsIdle', 'jobsStarted', 'jobsOnce'],
  },
  pdf: { file: 'pdf', usual: [], quick: ['rounds=3', 'pages=5'], goals: ['pdfPage', 'pdfRows'] },
  template: { file: 'template', usual: [], quick: ['rounds=3'], goals: ['template'] },
  app: {
    file: 'app',
    usual: [],
    quick: ['rounds=3', 'calls=50', 'queries=200'],
    goals: ['appHandler', 'appQuery', 'appRate', 'appDeploy'],
  },
  usage: {
    file: 'usage',
    usual: [],
    quick: ['lines=200000', 'rounds=5'],
    goals: ['usageReport', 'usageAppend'],
  },
  fairness: { file: 'fairness', usual: ['rows=300000', 'seconds=4'], goals: ['neighbour', 'neighbourFailures'] },
};

let interrupted = false;
const OUTPUT = join(import.meta.dirname, '../.cache/bench');

/** Runs one benchmark in its own process and returns its measurements, or why there are none. */
async function run(name: string, { file, goals, missing }: Benchmark, args: string[] | string): Promise<Measurement[]> {
  const none = (reason: string) =>
    goals.map((goal): Measurement => ({ what: `${name}: ${goal}`, goal, missing: reason }));
  const reason = interrupted ? 'interrupted' : (missing ?? args);
  if (typeof reason === 'string') return none(reason);
  const lines = join(OUTPUT, `${name}.jsonl`);
  rmSync(lines, { force: true });
  const began = performance.now();
  process.stderr.write(`${name} ... `);
  const child = spawn(process.execPath, [join(import.meta.dirname, `${file}.ts`), ...args], {
    env: { ...environment, [LINES_FILE]: lines },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = createWriteStream(join(OUTPUT, `${name}.md`));
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const stop = () => {
    child.kill('SIGTERM');
    interrupted = true;
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGINT', stop).off('SIGTERM', stop);
  output.end();
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0)} s\n`);
  if (code !== 0) return none(`it failed, see .cache/bench/${name}.md`);
  const text = existsSync(lines) ? readFileSync(lines, 'utf8') : '';
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Measurement);
}

/** Returns the options of a benchmark in this run, or why it has no place in it. */
function argumentsOf({ usual, quick, full }: Benchmark, words: string[]): string[] | string {
  if (full && !words.includes('full')) return 'only in the full run';
  return words.includes('quick') ? (quick ?? 'not in the quick run') : usual;
}

const words = process.argv.slice(2);
const only = words
  .find((word) => word.startsWith('only='))
  ?.slice('only='.length)
  .split(',');
const unknown = words.find((word) => !['quick', 'full'].includes(word) && !word.startsWith('only='));
if (unknown)
  throw new Error(`Unknown option ${unknown}; there are quick, full and only=${Object.keys(BENCHMARKS).join()}`);
mkdirSync(OUTPUT, { recursive: true });
const measurements: Measurement[] = [];
for (const [name, benchmark] of Object.entries(BENCHMARKS))
  if (!only || only.includes(name)) measurements.push(...(await run(name, benchmark, argumentsOf(benchmark, words))));
printReport(measurements);
