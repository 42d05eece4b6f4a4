/**
 * Measures a crowd: small reads during 16 refreshes, and pages of 50 open datasets, in one `web` and one `worker`:
 * `npm run build && node bench/crowd.ts [rows=300000] [open=50] [refreshes=16] [seconds=10] [dist=dist]`. Prints
 * Markdown.
 */
import { setTimeout } from 'node:timers/promises';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { ordersTable } from './orders.ts';
import { ownMemoryOf } from './processes.ts';
import { report, type Measurement } from './report.ts';
import { eventLoopDelay, withService, type Service } from './service.ts';

const options = readOptions({ rows: '300000', open: '50', refreshes: '16', seconds: '10', dist: 'dist' });
const [OPEN, REFRESHES] = [Number(options.open), Number(options.refreshes)];
const PAUSE_MS = 20;
/** Rows of each open dataset. */
const OPEN_ROWS = Number(options.rows) / 10;

const LIST = '{ datasets(limit: 30, sort: "name") { total items { id name owner { id name } } } }';

type Read = () => Promise<unknown>;
const at = (times: number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN;

/** Runs each read in a loop until `end`, and returns the milliseconds that each of them took. */
async function timesOf(reads: Record<string, Read>, end: Promise<unknown>): Promise<Record<string, number[]>> {
  let running = true;
  void end.then(() => (running = false));
  const all = Object.entries(reads).map(async ([name, read]): Promise<[string, number[]]> => {
    const times: number[] = [];
    while (running) {
      const began = performance.now();
      await read();
      times.push(performance.now() - began);
      await setTimeout(PAUSE_MS);
    }
    return [name, times];
  });
  return Object.fromEntries(await Promise.all(all));
}

/** Creates a dataset with its rows and returns its path. */
async function createDataset({ call }: Service, datasourceId: string, name: string, query: string): Promise<string> {
  const { id } = await call('POST', '/api/datasets', { name, datasourceId, query, refresh: true });
  return `/api/datasets/${String(id)}`;
}

async function measureRefreshes(service: Service, datasourceId: string): Promise<Measurement[]> {
  const { base, call } = service;
  const small = await createDataset(service, datasourceId, 'Small', 'select * from orders limit 200');
  const large: string[] = [];
  for (let n = 0; n < REFRESHES; n++)
    large.push(await createDataset(service, datasourceId, `Large ${n}`, `select * from orders where id <> ${n}`));
  const reads = {
    'page of data': () => call('GET', `${small}/data?sort=-amount&limit=50`),
    'list of datasets': () => call('POST', '/graphql', { query: LIST }),
    dataset: () => call('GET', small),
  };
  await timesOf(reads, setTimeout(2000));
  const alone = await timesOf(reads, setTimeout(Number(options.seconds) * 1000));
  await eventLoopDelay(base);
  const began = performance.now();
  const done = Promise.all(large.map((path) => call('POST', `${path}/_refresh`, {})));
  const beside = await timesOf(reads, done);
  const seconds = (performance.now() - began) / 1000;
  const delay = await eventLoopDelay(base);
  console.log(`\n## Reads during ${REFRESHES} refreshes of ${options.rows} rows, which took ${seconds.toFixed(1)} s\n`);
  const line = (name: string, times: number[], others: number[]) => [
    name,
    ...[at(others, 0.5), at(others, 0.99), at(times, 0.5), at(times, 0.99)].map((ms) => ms.toFixed(1)),
    String(times.length),
  ];
  printTable(
    ['read', 'alone p50 ms', 'p99', 'during p50 ms', 'p99', 'reads'],
    Object.entries(beside).map(([name, times]) => line(name, times, alone[name]!)),
  );
  console.log(`\nEvent loop delay of web, p99: ${delay.toFixed(0)} ms`);
  return [
    ...Object.entries(beside).map(([name, times]): Measurement => ({
      what: `${name} during ${REFRESHES} refreshes, p99`,
      goal: 'besideRefreshes',
      value: at(times, 0.99) / at(alone[name]!, 0.99),
    })),
    { what: `event loop delay of web during ${REFRESHES} refreshes, p99`, goal: 'webDelay', value: delay },
  ];
}

async function measureOpen(service: Service, datasourceId: string): Promise<Measurement[]> {
  const paths: string[] = [];
  for (let n = 0; n < OPEN; n++)
    paths.push(
      await createDataset(
        service,
        datasourceId,
        `Open ${n}`,
        `select * from orders where id > ${n} limit ${OPEN_ROWS}`,
      ),
    );
  const web = service.pids[0]!;
  const pages = async (of: string[], rounds: number): Promise<number[]> => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++)
      for (const path of of) {
        const began = performance.now();
        await service.call('GET', `${path}/data?sort=-amount&limit=50`);
        times.push(performance.now() - began);
      }
    return times;
  };
  const one = await pages(paths.slice(0, 1), 5 * OPEN);
  const before = ownMemoryOf(web);
  const first = await pages(paths, 1);
  const opened = ownMemoryOf(web);
  const all = await pages(paths, 5);
  const after = ownMemoryOf(web);
  console.log(`\n## ${OPEN} open datasets of ${OPEN_ROWS} rows\n`);
  printTable(
    ['pages', 'p50 ms', 'p99 ms', 'memory of web afterwards MiB'],
    [
      ['of one dataset', one, before] as const,
      ['the first of each', first, opened] as const,
      ['of all in turn', all, after] as const,
    ].map(([name, times, memory]) => [
      name,
      ...[at(times, 0.5), at(times, 0.99), memory].map((number) => number.toFixed(1)),
    ]),
  );
  return [
    { what: `page of ${OPEN} open datasets in turn, p50`, goal: 'openPage', value: at(all, 0.5) / at(one, 0.5) },
    { what: `memory of web with ${OPEN} open datasets`, goal: 'openMemory', value: after },
  ];
}

await withService({ roles: ['web', 'worker'], dist: options.dist }, async (service) => {
  const { datasourceId } = await service.createSource(ordersTable(Number(options.rows)));
  report([...(await measureRefreshes(service, datasourceId)), ...(await measureOpen(service, datasourceId))]);
});
