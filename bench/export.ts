/**
 * Measures the cost of each export format over reading the rows: `node bench/export.ts [rows=200000] [columns=12]
 * [rounds=3]`. Prints medians, measured alternately in this process.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckdbIndex } from '../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { CsvSegmentWriter } from '../src/adapters/drivers/csv-encoder.ts';
import { EXPORT_ENCODERS } from '../src/adapters/export-format/encoders.ts';
import { ALL } from '../src/core/criteria/tree.ts';
import type { Row } from '../src/core/dataset-index.ts';
import type { Column } from '../src/core/fields.ts';
import type { Segment } from '../src/core/row-source.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';

const options = readOptions({ rows: '200000', columns: '12', rounds: '3' });
const [ROWS, COLUMNS, ROUNDS] = [Number(options.rows), Number(options.columns), Number(options.rounds)];

/** The types that columns have in turn, each with the text of its value in row n. */
const KINDS: { type: Column['type']; storage: Column['storage']; text(n: number): string | null }[] = [
  { type: 'integer', storage: { kind: 'int64' }, text: (n) => String(n) },
  { type: 'string', storage: { kind: 'text' }, text: (n) => `Customer ${(n * 7919) % 50_000}` },
  { type: 'number', storage: { kind: 'float64' }, text: (n) => String((n % 9973) / 8) },
  {
    type: 'datetime',
    storage: { kind: 'timestamp' },
    text: (n) => new Date(1_700_000_000_000 + n * 94_600).toISOString(),
  },
  {
    type: 'date',
    storage: { kind: 'date' },
    text: (n) => new Date(1_700_000_000_000 + (n % 1095) * 86_400_000).toISOString().slice(0, 10),
  },
  {
    type: 'string',
    storage: { kind: 'text' },
    text: (n) =>
      n % 10 === 0 ? null : `note ${((n * 2_654_435_761) % 2 ** 32).toString(36)} "quoted", and ${n % 1000} more`,
  },
];
const kindOf = (column: number) => KINDS[column % KINDS.length]!;
const columns: Column[] = Array.from({ length: COLUMNS }, (_, i) => ({
  name: `column ${i}`,
  type: kindOf(i).type,
  storage: kindOf(i).storage,
  sourceType: kindOf(i).type,
}));

async function* segments(dir: string): AsyncGenerator<Segment> {
  const writer = new CsvSegmentWriter(dir);
  for (let n = 1; n <= ROWS; n++) {
    writer.row(columns.map((_, i) => kindOf(i).text(n + i)));
    if (writer.isFull) yield await writer.flush();
  }
  if (writer.rows > 0) yield await writer.flush();
}

const dir = await mkdtemp(join(tmpdir(), 'dws-bench-'));
const index = openDuckdbIndex({ dir: join(dir, 'index') });
const signal = new AbortController().signal;
try {
  const generation = await index.load(randomUUID(), columns, segments(dir), {
    flow: [],
    maxRows: 0,
    progress: () => {},
    signal,
  });
  const fields = generation.fields.map((field) => ({ ...field, label: field.name }));
  const scan = () =>
    index.scan(
      {
        generation,
        caller: { tenantId: '', userId: '' },
        where: ALL,
        words: [],
        wordFields: [],
        fields: fields.map(({ name }) => name),
        sort: [],
      },
      signal,
    );
  const works: Record<string, () => AsyncIterable<string | Uint8Array | Row[]>> = { scan };
  for (const [format, encoder] of Object.entries(EXPORT_ENCODERS))
    works[format] = () => encoder.encode(fields, scan(), 'Data');
  const measured = Object.keys(works).map((name) => ({ name, ms: [] as number[], cpu: [] as number[], bytes: 0 }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of measured) {
      const [began, cpu] = [performance.now(), process.cpuUsage()];
      one.bytes = 0;
      for await (const piece of works[one.name]!())
        one.bytes +=
          typeof piece === 'string' ? Buffer.byteLength(piece) : piece instanceof Uint8Array ? piece.length : 0;
      const { user, system } = process.cpuUsage(cpu);
      one.ms.push(performance.now() - began);
      one.cpu.push((user + system) / 1000);
    }
  }
  const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;
  const [read] = measured;
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  const size = (generation.size / 1e6).toFixed(1);
  console.log(`Exports of ${ROWS} rows of ${COLUMNS} columns, ${size} MB in the index; peak RSS ${peak} MB\n`);
  printTable(
    ['format', 'rows/s', '× reading', 'CPU × reading', 'MB'],
    measured.map(({ name, ms, cpu, bytes }) => [
      name,
      Math.round((ROWS / median(ms)) * 1000).toString(),
      (median(ms) / median(read!.ms)).toFixed(2),
      (median(cpu) / median(read!.cpu)).toFixed(2),
      (bytes / 1e6).toFixed(1),
    ]),
  );
} finally {
  await index.close();
  await rm(dir, { recursive: true, force: true });
}
