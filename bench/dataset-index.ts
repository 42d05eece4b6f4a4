/**
 * Measures the overhead of the embedded index over bare DuckDB: `node bench/dataset-index.ts [rows=1000000] [rounds=15]`. Prints ratios of
 * medians, measured alternately in this process.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { openDuckdbIndex } from '../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { rowsFile } from '../src/adapters/dataset-index/duckdb/generation-files.ts';
import { ALL } from '../src/core/criteria/tree.ts';
import type { CriteriaNode } from '../src/core/criteria/tree.ts';
import type { GoalName } from './goals.ts';
import { readOptions } from './options.ts';
import { ORDER_COLUMNS, orderSegments } from './orders.ts';
import { report, type Measurement } from './report.ts';

const options = readOptions({ rows: '1000000', rounds: '15' });
const [ROWS, ROUNDS] = [Number(options.rows), Number(options.rounds)];
const BERLIN = 'Europe/Berlin';

async function median(works: (() => Promise<unknown>)[]): Promise<number[]> {
  const times = works.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, work] of works.entries()) {
      const began = performance.now();
      await work();
      times[i]!.push(performance.now() - began);
    }
  }
  return times.map((all) => all.sort((a, b) => a - b)[ROUNDS >> 1]!);
}

const dir = await mkdtemp(join(tmpdir(), 'dws-bench-'));
const index = openDuckdbIndex({ dir: join(dir, 'index') });
const signal = new AbortController().signal;
try {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const generation = await index.load(randomUUID(), ORDER_COLUMNS, orderSegments(dir, ROWS), {
    flow: [],
    maxRows: 0,
    progress: () => {},
    signal,
  });
  const used = process.cpuUsage(cpu);
  const figures = [
    `${Math.round(ROWS / (performance.now() - began))}k rows/s`,
    `${((used.user + used.system) / 1e6).toFixed(1)} CPU s including the creation of the rows`,
    `peak RSS ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`,
    `${(generation.size / 1e6).toFixed(0)} MB`,
  ];
  console.log(`load of ${ROWS} rows: ${figures.join(', ')}`);
  const words = performance.now();
  await index.prepareWords(generation, signal);
  console.log(`words: ${Math.round(performance.now() - words)} ms`);

  const bare = await (await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '512MB' })).connect();
  await bare.run(`ATTACH '${rowsFile(join(dir, 'index'), generation.id)}' AS g (READ_ONLY)`);
  await bare.run(`ATTACH '${join(dir, 'worded.duckdb')}' AS w`);
  await bare.run(
    `CREATE TABLE w.worded AS
      SELECT *, ' ' || regexp_replace(lower(concat_ws(' ', c1, c2, c3, c11)), '[^a-z0-9]+', ' ', 'g') q FROM g.data`,
  );
  await bare.run('CHECKPOINT w');
  await bare.run(`SET TimeZone = 'UTC'`);

  const field = (name: string) => ({ label: name, ...generation.fields.find((one) => one.name === name)! });
  const german: CriteriaNode = {
    kind: 'and',
    nodes: [
      { kind: 'compare', field: field('quantity'), op: 'gt', value: 10 },
      { kind: 'compare', field: field('country'), op: 'eq', value: 'DE' },
    ],
  };
  const fields = generation.fields.map(({ name }) => name);
  const wordFields = ['customer', 'status', 'country', 'note'];
  const page = {
    generation,
    caller: { tenantId: '', userId: '' },
    where: german,
    words: [],
    wordFields,
    fields,
    sort: [{ field: 'amount', descending: true }],
    limit: 100,
    start: 0,
    total: false,
  };
  const grouped = {
    generation,
    caller: { tenantId: '', userId: '' },
    where: ALL,
    words: [],
    wordFields,
    groupBy: [{ field: 'country' }, { field: 'status' }],
    measures: [
      { fn: 'sum' as const, field: 'amount', as: 'sum' },
      { fn: 'count' as const, as: 'n' },
    ],
    sort: [],
    limit: 100,
  };
  const columns = generation.fields.map(({ column }) => column).join(', ');
  const rows = async (sql: string) => (await bare.runAndReadAll(sql)).getRowObjects();

  const rounds: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'page of 100, filter + sort',
      () => index.search(page, signal),
      () => rows(`SELECT ${columns} FROM g.data WHERE c6 > 10 AND c3 = 'DE' ORDER BY c4 DESC LIMIT 100`),
    ],
    [
      'page of 10,000, filter + sort',
      () => index.search({ ...page, limit: 10_000 }, signal),
      () => rows(`SELECT ${columns} FROM g.data WHERE c6 > 10 AND c3 = 'DE' ORDER BY c4 DESC LIMIT 10000`),
    ],
    [
      'page of 100 + total',
      () => index.search({ ...page, total: true }, signal),
      async () => [
        await rows(`SELECT ${columns} FROM g.data WHERE c6 > 10 AND c3 = 'DE' ORDER BY c4 DESC LIMIT 100`),
        await rows(`SELECT count(*) FROM g.data WHERE c6 > 10 AND c3 = 'DE'`),
      ],
    ],
    [
      'first page of 100, no sort',
      () => index.search({ ...page, where: ALL, sort: [] }, signal),
      () => rows(`SELECT ${columns} FROM g.data LIMIT 100`),
    ],
    [
      'aggregate by two fields',
      () => index.aggregate(grouped, signal),
      () => rows(`SELECT c3, c2, sum(c4), count(*) FROM g.data GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100`),
    ],
    [
      'aggregate by month',
      () => index.aggregate({ ...grouped, groupBy: [{ field: 'created', interval: 'month' }] }, signal),
      () => rows(`SELECT date_trunc('month', c9), sum(c4), count(*) FROM g.data GROUP BY 1 ORDER BY 1 LIMIT 100`),
    ],
    [
      'aggregate by day in Berlin',
      () => index.aggregate({ ...grouped, groupBy: [{ field: 'created', interval: 'day', timezone: BERLIN }] }, signal),
      () =>
        rows(
          `SELECT time_bucket(INTERVAL 1 day, c9 AT TIME ZONE 'UTC', '${BERLIN}'), sum(c4), count(*)
            FROM g.data GROUP BY 1 ORDER BY 1 LIMIT 100`,
        ),
    ],
    [
      'q of two words, rare',
      () => index.search({ ...page, where: ALL, words: ['4711', 'de'] }, signal),
      () =>
        rows(
          `SELECT ${columns} FROM w.worded
            WHERE contains(q, ' 4711') AND contains(q, ' de') ORDER BY c4 DESC LIMIT 100`,
        ),
    ],
    [
      'q of two words, frequent',
      () => index.search({ ...page, where: ALL, words: ['customer', 'paid'] }, signal),
      () =>
        rows(
          `SELECT ${columns} FROM w.worded
            WHERE contains(q, ' customer') AND contains(q, ' paid') ORDER BY c4 DESC LIMIT 100`,
        ),
    ],
    [
      'q of two words, no sort',
      () => index.search({ ...page, where: ALL, words: ['customer', 'paid'], sort: [] }, signal),
      () => rows(`SELECT ${columns} FROM w.worded WHERE contains(q, ' customer') AND contains(q, ' paid') LIMIT 100`),
    ],
  ];
  const goalOf = (name: string): GoalName =>
    name.startsWith('q') ? 'words' : name.startsWith('aggregate') ? 'aggregate' : 'page';
  const measurements: Measurement[] = [];
  for (const [name, ours, theirs] of rounds) {
    const [mine, reference] = await median([ours, theirs]);
    const value = mine! / reference!;
    measurements.push({ what: `${name}, ${ROWS} rows`, goal: goalOf(name), value });
    console.log(
      `${name.padEnd(32)} ${value.toFixed(2)} x bare DuckDB (${mine!.toFixed(1)} / ${reference!.toFixed(1)} ms)`,
    );
  }
  report(measurements);
} finally {
  await index.close();
  await rm(dir, { recursive: true, force: true });
}
