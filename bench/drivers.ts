/**
 * Measures a refresh through a driver against reading the same cursor and discarding the rows, alternately in one
 * run, each in its own process:
 * `node bench/drivers.ts [drivers=mysql,sqlite,csv,parquet] [rows=1000000] [rounds=2]`. Prints Markdown. CPU is
 * measured for the reading process and its children; the CPU of the source is printed next to it.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckdbIndex } from '../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { createDrivers } from '../src/adapters/drivers/driver-registry.ts';
import { withFinalColumns } from '../src/core/columns-changed.ts';
import { isInstalled } from '../tools/mariadb.ts';
import { CONTENDERS, type Source } from './driver-sources.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { cpuOf } from './processes.ts';
import { report, type Measurement } from './report.ts';

interface Cost {
  rows: number;
  seconds: number;
  cpu: number;
  source: number;
  peak: number;
}

/** Runs a refresh without the service around it: describe, segments, a generation of the embedded index. */
async function refresh({ type, config, secrets, file, query }: Source): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'dws-drivers-'));
  const connection = createDrivers({ ownDatabase: null }).driverOf(type).connect(config, secrets, file);
  const index = openDuckdbIndex({ dir: join(dir, 'index'), threads: 2 });
  const { signal } = new AbortController();
  const bound = { text: query, parameters: [], timeout: 600_000 };
  try {
    const plan = { flow: [], maxRows: 0, progress: () => {}, signal };
    const loaded = await withFinalColumns(await connection.describe(bound, signal, { provisional: true }), (columns) =>
      index.load(randomUUID(), columns, connection.segments(bound, dir, signal), plan),
    );
    return loaded.records;
  } finally {
    await index.close();
    await connection.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Takes one measurement, alone in this process. */
async function measure(what: 'read' | 'refresh', source: Source): Promise<Omit<Cost, 'source'>> {
  const before = cpuOf(process.pid);
  const began = performance.now();
  const rows = what === 'read' ? await CONTENDERS[source.contender]!.read(source) : await refresh(source);
  return {
    rows,
    seconds: (performance.now() - began) / 1000,
    cpu: cpuOf(process.pid) - before,
    peak: process.resourceUsage().maxRSS / 1024,
  };
}

/** The lines of one driver; `values` are undefined when it cannot be measured. */
const linesOf = (
  name: string,
  values: [rows?: number, cpu?: number, memory?: number],
  missing?: string,
): Measurement[] =>
  (['driverRows', 'driverCpu', 'loaderMemory'] as const).map((goal, i) => ({
    what: `refresh from ${name}, ${['rows/s', 'CPU', 'memory of the loader'][i]!}`,
    goal,
    ...(missing ? { missing } : { value: values[i]! }),
  }));

async function compare(name: string, rows: number, rounds: number): Promise<Measurement[]> {
  if (name === 'mysql' && !isInstalled()) return linesOf(name, [], 'MariaDB is not installed');
  const { source, pid, close } = await CONTENDERS[name]!.open(rows);
  try {
    const cost = (what: 'read' | 'refresh'): Cost => {
      const before = pid === null ? 0 : cpuOf(pid);
      const said = execFileSync(process.execPath, [import.meta.filename, what, JSON.stringify(source)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const measured = {
        ...(JSON.parse(said) as Omit<Cost, 'source'>),
        source: pid === null ? 0 : cpuOf(pid) - before,
      };
      if (measured.rows !== rows) throw new Error(`${what} of ${name} saw ${measured.rows} rows`);
      return measured;
    };
    const costs: Record<'read' | 'refresh', Cost[]> = { read: [], refresh: [] };
    // The first round only warms caches.
    for (let round = -1; round < rounds; round++) {
      const pair = { read: cost('read'), refresh: cost('refresh') };
      if (round >= 0) for (const what of ['read', 'refresh'] as const) costs[what].push(pair[what]);
    }
    const [read, loaded] = [costs.read, costs.refresh].map((all) => all.toSorted((a, b) => a.cpu - b.cpu)[0]!) as [
      Cost,
      Cost,
    ];
    console.log(`\n## ${name}: ${rows} rows x 12 columns\n`);
    const figures = ({ seconds, cpu, source, peak }: Cost) => [
      (rows / seconds).toFixed(0),
      cpu.toFixed(2),
      source.toFixed(2),
      peak.toFixed(0),
    ];
    printTable(
      ['', 'rows/s', 'CPU s', 'of the source', 'peak RSS MiB'],
      [
        ['read and discarded', ...figures(read)],
        ['refresh', ...figures(loaded)],
        ['ratio', (read.seconds / loaded.seconds).toFixed(2), (loaded.cpu / read.cpu).toFixed(2), '', ''],
      ],
    );
    return linesOf(name, [read.seconds / loaded.seconds, loaded.cpu / read.cpu, loaded.peak]);
  } finally {
    await close();
  }
}

const [first, second] = process.argv.slice(2);
if (first === 'read' || first === 'refresh')
  console.log(JSON.stringify(await measure(first, JSON.parse(second!) as Source)));
else {
  const { drivers, rows, rounds } = readOptions({
    drivers: Object.keys(CONTENDERS).join(),
    rows: '1000000',
    rounds: '2',
  });
  const measurements: Measurement[] = [];
  for (const name of drivers.split(',')) measurements.push(...(await compare(name, Number(rows), Number(rounds))));
  report(measurements);
}
