/**
 * Measures a refresh from Postgres into the embedded index against the reference (copy-reference.ts: COPY to COPY
 * into a typed table), alternately in one run:
 * `npm run build && node bench/refresh.ts [rows=1000000] [rounds=2] [dist=dist]`. Prints Markdown. One `web` and one
 * `worker`, whose child loads. CPU is the sum over all processes, including Postgres, which is source, target and the
 * service's own database.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { ordersTable } from './orders.ts';
import { cpuOf, ownMemoryOf, peakOfChild } from './processes.ts';
import { report } from './report.ts';
import { eventLoopDelay, runSql, withService } from './service.ts';

const { rows, rounds, dist } = readOptions({ rows: '1000000', rounds: '2', dist: 'dist' });

/** CPU seconds of all processes, and of Postgres alone. */
interface Cost {
  seconds: number;
  cpu: number;
  postgres: number;
  loader: number;
  web: number;
  lag: number;
}

await withService({ roles: ['web', 'worker'], dist }, async ({ base, pids, postmaster, call, createSource }) => {
  const { url: source, datasourceId } = await createSource(
    ordersTable(Number(rows)),
    'vacuum (analyze) orders',
    'create table copied (like orders)',
  );
  const [web, worker] = pids as [number, number];
  const { id } = await call('POST', '/api/datasets', { name: 'Orders', datasourceId, query: 'select * from orders' });

  const reference = async (): Promise<Cost> => {
    await runSql(source, 'truncate copied', 'checkpoint');
    const before = cpuOf(postmaster);
    const began = performance.now();
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'copy-reference.ts'), 'select * from orders', 'copied'],
      { env: { ...process.env, SOURCE_URL: source, TARGET_URL: source }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stdout)]);
    if (code !== 0) throw new Error('The reference failed');
    const seconds = (performance.now() - began) / 1000;
    const [copied] = await runSql(source, 'select count(*) as rows from copied');
    if (Number(copied!['rows']) !== Number(rows)) throw new Error(`${String(copied!['rows'])} rows were copied`);
    const used = cpuOf(postmaster) - before;
    return { seconds, cpu: used + Number(said), postgres: used, loader: 0, web: 0, lag: 0 };
  };

  const ours = async (): Promise<Cost> => {
    await runSql(source, 'checkpoint');
    await eventLoopDelay(base);
    const cpu = () => [cpuOf(postmaster), cpuOf(web) + cpuOf(worker)] as const;
    const before = cpu();
    const began = performance.now();
    const { result, peak } = await peakOfChild(worker, () => call('POST', `/api/datasets/${String(id)}/_refresh`, {}));
    const seconds = (performance.now() - began) / 1000;
    if (result['records'] !== Number(rows)) throw new Error(`${String(result['records'])} rows were loaded`);
    const [postgresNow, oursNow] = cpu();
    const used = postgresNow - before[0];
    return {
      seconds,
      cpu: used + oursNow - before[1],
      postgres: used,
      loader: peak,
      web: ownMemoryOf(web, 'VmHWM'),
      lag: await eventLoopDelay(base),
    };
  };

  const best = (costs: Cost[]): Cost => costs.toSorted((a, b) => a.cpu - b.cpu)[0]!;
  const costs: { reference: Cost[]; ours: Cost[] } = { reference: [], ours: [] };
  // The first round only warms caches.
  for (let round = -1; round < Number(rounds); round++) {
    const pair = { reference: await reference(), ours: await ours() };
    if (round >= 0) for (const key of ['reference', 'ours'] as const) costs[key].push(pair[key]);
  }
  const copied = best(costs.reference);
  const loaded = best(costs.ours);
  console.log(`## Refresh of ${rows} rows x 12 columns\n`);
  const figures = ({ seconds, cpu, postgres }: Cost) => [
    (Number(rows) / seconds).toFixed(0),
    cpu.toFixed(1),
    postgres.toFixed(1),
  ];
  const most = (numbers: number[]) => Math.max(...numbers).toFixed(0);
  const loader = most(costs.ours.map((cost) => cost.loader));
  const lag = most(costs.ours.map((cost) => cost.lag));
  const ratios = [(copied.seconds / loaded.seconds).toFixed(2), (loaded.cpu / copied.cpu).toFixed(2)];
  printTable(
    [
      '',
      'rows/s',
      'CPU s',
      'of Postgres',
      'peak RSS of the loader MiB',
      'of web MiB',
      'event loop delay of web p99 ms',
    ],
    [
      ['COPY to COPY', ...figures(copied), '', '', ''],
      ['refresh', ...figures(loaded), loader, loaded.web.toFixed(0), lag],
      ['ratio', ...ratios, '', '', '', ''],
    ],
  );
  const ofRows = (what: string) => `refresh of ${rows} rows, ${what}`;
  report([
    { what: ofRows('rows/s'), goal: 'refreshRows', value: copied.seconds / loaded.seconds },
    { what: ofRows('CPU of all processes'), goal: 'refreshCpu', value: loaded.cpu / copied.cpu },
    { what: ofRows('memory of the loader'), goal: 'loaderMemory', value: Number(loader) },
    { what: ofRows('memory of web'), goal: 'webMemory', value: loaded.web },
    { what: ofRows('event loop delay of web, p99'), goal: 'webDelay', value: Number(lag) },
  ]);
});
