/**
 * Measures snapshots, copies and drafts at few and at many rows, the overhead of a restricted reader, and how much
 * time reveals to one: each kind of question on datasets that differ only in the share of hidden rows that match it.
 * `npm run build && node bench/parts.ts [rows=1000000] [rounds=15] [twins=yes] [dist=dist]`. Prints Markdown with medians in
 * milliseconds. One `web` and one `worker`.
 */
import { TOKENS } from './fill.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { report, type Measurement } from './report.ts';
import { withService } from './service.ts';

const {
  rows,
  rounds,
  twins: hasTwins,
  dist,
} = readOptions({ rows: '1000000', rounds: '15', twins: 'yes', dist: 'dist' });
const FEW = 1000;

/** The reader sees the rows of one country. */
const ROWS = `create table orders as
  select n as id,
    'Customer ' || (n * 7919) % 50000 as customer,
    (array['RU','DE','US','FR','CN','IN','BR','GB'])[1 + n * 17 % 8] as country,
    (n * 104729 % 1000000 / 100.0)::numeric(12,2) as amount,
    timestamptz '2022-01-01 00:00Z' + n * interval '94.6 seconds' as created,
    'note ' || md5(n::text) as note
  from generate_series(1, ${rows}::bigint) n`;

/** Shares of hidden rows that match the question: `k` below 97, and the word `target`. */
const SHARES = [0, 0.01, 0.5, 1];

/** One in eight rows is visible. A tenth of the visible rows match. */
const TWIN = (share: number) => `
  select n as id, country, k, case when k < 97 then 'target ' else 'other ' end || md5(n::text) as note,
    (n * 104729 % 1000000 / 100.0)::numeric(12,2) as amount
  from (
    select n, case when n % 8 = 3 then 'FR' else 'DE' end as country,
      case when n % 8 = 3 then n * 7919 % 1000
        when n * 104729 % 10000 < ${share * 10_000} then n % 97 else 97 + n % 903 end as k
    from generate_series(1, ${rows}::bigint) n) as numbered`;

const ROW_FILTERS = { comparison: { country: 'FR' }, 'regular expression': { country: { $regex: '^F.$' } } };

const FILTER = { k: { $lt: 97 } };
const filtered = (filter: object, rest = '') => `filter=${encodeURIComponent(JSON.stringify(filter))}${rest}`;

/** A question as method, path and body. */
type Question = [method: 'GET' | 'POST', path: string, body?: object];

const QUESTIONS: Record<string, Question> = {
  page: ['GET', `/data?${filtered(FILTER, '&limit=100')}`],
  'sorted page': ['GET', `/data?${filtered(FILTER, '&limit=100&sort=-amount')}`],
  'sorted page by the matching field': ['GET', '/data?limit=100&sort=k'],
  'page by `$regex`': ['GET', `/data?${filtered({ note: { $regex: '^target.*e$' } }, '&limit=100&sort=-amount')}`],
  'page by `$in`': [
    'GET',
    `/data?${filtered({ k: { $in: Array.from({ length: 97 }, (_, k) => k) } }, '&limit=100&sort=-amount')}`,
  ],
  total: ['POST', '/_search', { filter: FILTER, limit: 1 }],
  aggregate: [
    'POST',
    '/_aggregate',
    { groupBy: [{ field: 'k' }], measures: [{ fn: 'sum', field: 'amount', as: 'sum' }], filter: FILTER },
  ],
  discover: ['GET', `/discover?fields=k,note&${filtered(FILTER)}`],
  q: ['GET', '/data?q=target&limit=100'],
  export: ['GET', `/export?format=csv&${filtered(FILTER)}`],
};

const medianOf = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1]!;

/** Returns medians of tasks that are run alternately. */
async function inTurns(works: Record<string, (round: number) => Promise<unknown>>): Promise<Record<string, number>> {
  const times = Object.fromEntries(Object.keys(works).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, work] of Object.entries(works)) {
      const began = performance.now();
      await work(round);
      times[name]!.push(performance.now() - began);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, medianOf(all)]));
}

await withService({ roles: ['web', 'worker'], dist }, async ({ call, createSource }) => {
  const { datasourceId } = await createSource(ROWS);
  const createDataset = async (name: string, query: string): Promise<string> => {
    const { id } = await call('POST', '/api/datasets', { name, datasourceId, query, refresh: true });
    return `/api/datasets/${String(id)}`;
  };
  const many = await createDataset('Many', 'select * from orders');
  const few = await createDataset('Few', `select * from orders limit ${FEW}`);

  const clones = await inTurns(
    Object.fromEntries(
      [
        ['few', few],
        ['many', many],
      ].flatMap(([size, path]) => [
        [`snapshot, ${size}`, (round: number) => call('POST', `${path}/snapshots`, { name: `Snapshot ${round}` })],
        [`copy, ${size}`, (round: number) => call('POST', `${path}/copy`, { name: `Copy ${round}` })],
        [
          `draft, ${size}`,
          async () => {
            await call('POST', `${path}/_edit`);
            await call('DELETE', `${path}/draft`);
          },
        ],
      ]),
    ),
  );

  const { id: filter } = await call('POST', `${many}/filters`, { name: 'Part', criteria: { country: 'FR' } });
  await call('PUT', many, { fieldSecurityEnabled: true });
  const session = await call('GET', '/api/session', undefined, TOKENS.ordinary);
  const reader = String(session['user'].id ?? session['user'].username);
  await call('PUT', `${many}/shares/${reader}`, {
    accessLevel: 2,
    datasetFilterId: filter,
    restrictFields: true,
    visibleFields: ['id', 'customer', 'amount', 'created', 'note'],
  });
  const { id: visual } = await call('POST', `${many}/visuals`, {
    component: 'line-chart',
    config: { xAxis: 'created', dateInterval: 'month', yAxis: 'amount' },
  });
  const asked = (path: string, token: keyof typeof TOKENS) => () =>
    call('GET', `${many}${path}`, undefined, TOKENS[token]);
  const reads = await inTurns({
    'page, whole': asked('/data?sort=-amount&limit=100', 'superuser'),
    'page, part': asked('/data?sort=-amount&limit=100', 'ordinary'),
    'visual, whole': asked(`/visuals/${String(visual)}/data`, 'superuser'),
    'visual, part': asked(`/visuals/${String(visual)}/data`, 'ordinary'),
    'picture, whole': asked(`/visuals/${String(visual)}/image.svg`, 'superuser'),
  });
  printTable(
    ['what', 'ms'],
    Object.entries({ ...clones, ...reads }).map(([what, ms]) => [what, ms.toFixed(1)]),
  );

  const twins: string[] = [];
  if (hasTwins === 'yes') for (const share of SHARES) twins.push(await createDataset(`Twin ${share}`, TWIN(share)));
  for (const [rule, criteria] of hasTwins === 'yes' ? Object.entries(ROW_FILTERS) : []) {
    for (const path of twins) {
      const { id: datasetFilterId } = await call('POST', `${path}/filters`, { name: rule, criteria });
      await call('PUT', `${path}/shares/${reader}`, { accessLevel: 1, datasetFilterId });
    }
    const lines = [];
    for (const [kind, [method, path, body]] of Object.entries(QUESTIONS)) {
      // Keys that look like integers would lose their order.
      const works = SHARES.map((share, i): [string, () => Promise<unknown>] => [
        `share ${share}`,
        () => call(method, `${twins[i]!}${path}`, body, TOKENS.ordinary),
      ]);
      for (const [, work] of works) await work();
      const medians = Object.values(await inTurns(Object.fromEntries(works)));
      const deviation = Math.max(...medians) / Math.min(...medians) - 1;
      lines.push([kind, ...medians.map((ms) => ms.toFixed(1)), `${Math.round(100 * deviation)} %`]);
    }
    console.log(`\nRow filter: ${rule}. Share of hidden rows that match:\n`);
    printTable(['question', ...SHARES.map((share) => `${share * 100} %`), 'largest deviation'], lines);
  }
  report(
    Object.entries(clones)
      .filter(([what]) => !what.startsWith('draft'))
      .map(([what, value]): Measurement => ({ what: `${what} rows`, goal: 'clone', value })),
  );
});
