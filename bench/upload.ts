/**
 * Measures uploads of 40 bytes and refreshes of 10 rows from Postgres, from the request to the response with the loaded
 * dataset: `npm run build && node bench/upload.ts [rounds=15] [pause=500] [dist=dist]`. Prints Markdown. One process
 * with both roles and the embedded index. `pause` is the time in milliseconds between two requests.
 */
import { setTimeout } from 'node:timers/promises';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { ownMemoryOf, treeOf } from './processes.ts';
import { report, type Measurement } from './report.ts';
import { withService } from './service.ts';

const { rounds, pause, dist } = readOptions({ rounds: '15', pause: '500', dist: 'dist' });

/** 40 bytes. */
const FILE = 'id,name,price\n1,one,1.50\n2,two,2.75\n3,,\n';

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
  await setTimeout(1000);
  const rest = treeOf(main).slice(1);
  console.log(
    `\nMemory of the service: ${idle.toFixed(0)} MiB before its first use, then ` +
      `${ownMemoryOf(main).toFixed(0)} MiB and ${rest.length} child processes of ` +
      rest.map((pid) => `${ownMemoryOf(pid).toFixed(0)} MiB`).join(', '),
  );
  report(measurements);
});
