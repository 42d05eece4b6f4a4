/**
 * Measures uploads of 40 bytes and refreshes of 10 rows from Postgres, from the request to the response with the loaded
 * dataset, and files of one row and 500 or 2,000 columns: `npm run build && node bench/upload.ts [rounds=15]
 * [wideRounds=5] [pause=500] [dist=dist]`. Prints Markdown. One process with both roles and the embedded index. `pause`
 * is the time in milliseconds between two requests.
 */
import { setTimeout } from 'node:timers/promises';
import { EXPORT_ENCODERS } from '../src/adapters/export-format/encoders.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../src/core/export-format.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { ownMemoryOf, treeOf } from './processes.ts';
import { report, type Measurement } from './report.ts';
import { withService, type ResponseBody, type Service } from './service.ts';

const { rounds, wideRounds, pause, dist } = readOptions({ rounds: '15', wideRounds: '5', pause: '500', dist: 'dist' });

/** 40 bytes. */
const FILE = 'id,name,price\n1,one,1.50\n2,two,2.75\n3,,\n';

const WIDTHS = [500, 2000] as const;
const WIDE_TYPES = ['integer', 'number', 'string', 'date', 'boolean'] as const;
const nameOf = (i: number): string => `column number ${i}`;
const WIDE_VALUES = [7, 2.5, 'some text', '2026-01-31', true];

/** As many fields as one request may name. */
const DISCOVERED = new URLSearchParams({ fields: Array.from({ length: 200 }, (_, i) => nameOf(i)).join(',') });

/** Creates a file with one row of this many columns of common types. */
async function wideFile(format: ExportFormat, columns: number): Promise<FormData> {
  const fields = Array.from({ length: columns }, (_, i) => ({
    name: nameOf(i),
    label: '',
    type: WIDE_TYPES[i % WIDE_TYPES.length]!,
  }));
  const row = Object.fromEntries(fields.map(({ name }, i) => [name, WIDE_VALUES[i % WIDE_VALUES.length]]));
  const batches = (async function* () {
    yield [row];
  })();
  const pieces: BlobPart[] = [];
  for await (const piece of EXPORT_ENCODERS[format].encode(fields, batches, 'Wide')) pieces.push(piece as BlobPart);
  const form = new FormData();
  form.append('file', new Blob(pieces), `wide.${format}`);
  return form;
}

/** Measures what is done with files of one row: 2,000 columns as a multiple of 500. */
async function measureWide(call: Service['call'], measurements: Measurement[]): Promise<void> {
  const lines: string[][] = [];
  for (const format of EXPORT_FORMATS) {
    const times = new Map<string, number[][]>();
    for (let round = -1; round < Number(wideRounds); round++) {
      for (const [n, width] of WIDTHS.entries()) {
        const form = await wideFile(format, width);
        let id = '';
        const works: [string, () => Promise<ResponseBody>][] = [
          ['preview', () => call('POST', '/api/datasets/_previewUpload', form)],
          ['upload', async () => ({ id } = await call('POST', '/api/datasets/_upload', form))],
          ['refresh', () => call('POST', `/api/datasets/${id}/_refresh`, {})],
          ['discover', () => call('GET', `/api/datasets/${id}/discover?${DISCOVERED}`)],
        ];
        for (const [what, work] of works) {
          const start = performance.now();
          await work();
          if (!times.has(what)) times.set(what, [[], []]);
          if (round >= 0) times.get(what)![n]!.push(performance.now() - start);
        }
      }
    }
    for (const [what, found] of times) {
      const [narrow, wide] = found.map((some) => some.toSorted((a, b) => a - b)[some.length >> 1]!) as [number, number];
      lines.push([`${what}, ${format}`, narrow.toFixed(0), wide.toFixed(0), (wide / narrow).toFixed(1)]);
      measurements.push({
        what: `${what} of a row of 2,000 columns, ${format}`,
        goal: 'wideFile',
        value: wide / narrow,
      });
    }
  }
  console.log('\nFiles of one row\n');
  printTable(['', '500 columns ms', '2,000 columns ms', 'ratio'], lines);
}

await withService({ roles: ['all'], dist }, async ({ pids, call, createSource }) => {
  const main = pids[0]!;
  await setTimeout(2000);
  const idle = ownMemoryOf(main);
  const { datasourceId } = await createSource();
  const upload = async () => {
    const form = new FormData();
    form.append('file', new Blob([FILE], { type: 'text/csv' }), 'prices.csv');
    const { records } = await call('POST', '/api/datasets/_upload', form);
    if (records !== 3) throw new Error(`${String(records)} rows were loaded`);
  };
  const query = `select n as id, 'name ' || n as name, n / 8.0 as price from generate_series(1, 10) n`;
  const { id } = await call('POST', '/api/datasets', { name: 'Numbers', datasourceId, query });
  const refresh = async () => {
    const { records } = await call('POST', `/api/datasets/${String(id)}/_refresh`, {});
    if (records !== 10) throw new Error(`${String(records)} rows were loaded`);
  };

  const works = [
    { what: 'upload of 40 bytes', work: upload, goal: 'smallUpload' },
    { what: 'refresh of 10 rows', work: refresh, goal: 'smallRefresh' },
  ] as const;
  const measurements: Measurement[] = [];
  const lines: string[][] = [];
  for (const { what, work, goal } of works) {
    const times: number[] = [];
    // The first two only warm caches.
    for (let round = -2; round < Number(rounds); round++) {
      await setTimeout(Number(pause));
      const start = performance.now();
      await work();
      if (round >= 0) times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    lines.push([what, ...[times[0]!, times[times.length >> 1]!, times.at(-1)!].map((ms) => ms.toFixed(0))]);
    measurements.push({ what: `${what}, end to end, median`, goal, value: times[times.length >> 1]! });
  }
  printTable(['', 'fastest ms', 'median ms', 'slowest ms'], lines);
  await measureWide(call, measurements);
  await setTimeout(1000);
  const rest = treeOf(main).slice(1);
  console.log(
    `\nMemory of the service: ${idle.toFixed(0)} MiB before its first use, then ` +
      `${ownMemoryOf(main).toFixed(0)} MiB and ${rest.length} child processes of ` +
      rest.map((pid) => `${ownMemoryOf(pid).toFixed(0)} MiB`).join(', '),
  );
  report(measurements);
});
