/**
 * Measures whether the memory of a refresh depends on the number of rows:
 * `npm run build && node bench/memory.ts [few=1000000] [many=10000000] [dist=dist]`. Prints Markdown. One `web` and one
 * `worker`, whose child loads from Postgres into the embedded index.
 */
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { ordersQuery } from './orders.ts';
import { ownMemoryOf, peakOfChild } from './processes.ts';
import { report } from './report.ts';
import { withService } from './service.ts';

const { few, many, dist } = readOptions({ few: '1000000', many: '10000000', dist: 'dist' });

await withService({ roles: ['web', 'worker'], dist }, async ({ pids, call, createSource }) => {
  const { datasourceId } = await createSource();
  const [web, worker] = pids as [number, number];
  const lines: string[][] = [];
  const peaks: number[] = [];
  for (const rows of [few, many]) {
    const query = ordersQuery(Number(rows));
    const began = performance.now();
    const { result, peak } = await peakOfChild(worker, () =>
      call('POST', '/api/datasets', { name: `Orders ${rows}`, datasourceId, query, refresh: true }),
    );
    if (result['records'] !== Number(rows)) throw new Error(`${String(result['records'])} rows were loaded`);
    const seconds = (performance.now() - began) / 1000;
    lines.push([rows, ...[seconds, peak, ownMemoryOf(web), ownMemoryOf(worker)].map((number) => number.toFixed(0))]);
    peaks.push(peak);
  }
  printTable(['rows', 'seconds', 'peak of the loader MiB', 'web MiB', 'worker MiB'], lines);
  report([
    { what: `peak memory of the loader at ${many} rows`, goal: 'flatMemory', value: peaks[1]! / peaks[0]! },
    { what: `peak memory of the loader at ${many} rows, itself`, goal: 'loaderMemory', value: peaks[1]! },
  ]);
});
