/**
 * Measures the lists that a front end shows of many datasets and 200 users, with their facets, through both APIs and as
 * a superuser and an ordinary user: `npm run build && node bench/lists.ts [sizes=1000,10000,100000] [seconds=2] [warm=2]
 * [dist=dist]`. Prints Markdown: milliseconds on one connection, statements and CPU per request.
 */
import { fillDatasets } from './fill-datasets.ts';
import { fill, idOf, TOKENS } from './fill.ts';
import { sendLoad, type Outcome } from './load.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { cpuOf } from './processes.ts';
import { report, type Measurement } from './report.ts';
import { graphqlRequest, request } from './requests.ts';
import { withService, type Service } from './service.ts';

const options = readOptions({ sizes: '1000,10000,100000', seconds: '2', warm: '2', dist: 'dist' });

const FACETS = `id name slug dataUpdatedAt records owner { id name } folder { id name } assignedTags { id name color }
  favorited permissions { read write share delete }`;
const datasets = (total: string, more = '') =>
  `{ datasets(limit: 50, sort: "name"${more}) { ${total} items { ${FACETS} } } }`;
const folder = idOf('folder7');

/** A list in one API. */
interface List {
  name: string;
  /** True if it is measured at every size, to show its growth. */
  grows?: boolean;
  /** Path of a GET, or a GraphQL document. */
  of: string;
}

const NO_TOTAL = 'datasets by name, no total, GraphQL';
const LISTS: List[] = [
  { name: 'datasets by name, REST', grows: true, of: '/api/datasets?limit=50&sort=name' },
  { name: 'datasets by name, GraphQL', grows: true, of: datasets('total') },
  { name: NO_TOTAL, grows: true, of: datasets('') },
  { name: 'datasets of a folder, GraphQL', of: datasets('total', `, folderId: "${folder}"`) },
  { name: 'datasets of a folder, REST', of: `/api/datasets?limit=50&sort=name&folderId=${folder}` },
  { name: 'datasets with a tag, GraphQL', of: datasets('total', `, tag: "${idOf('tag7')}"`) },
  { name: 'favourite datasets, GraphQL', of: datasets('total', ', favorite: true') },
  { name: 'datasets with `77`, GraphQL', of: datasets('total', ', q: "77"') },
  {
    name: 'search for `orders`, GraphQL',
    of: '{ search(q: "orders", limit: 20) { total items { resourceId name kind } } }',
  },
  { name: 'folders, REST', of: '/api/folders?limit=200' },
  { name: 'tags, REST', of: '/api/tags?limit=200' },
  { name: '200 users, REST', of: '/api/users?limit=200&sort=username' },
  {
    name: '200 users, GraphQL',
    of: '{ users(limit: 200, sort: "username") { total items { id username displayName } } }',
  },
];

interface Figures extends Outcome {
  statements: number;
  cpu: number;
  postgres: number;
}

const requestOf = ({ of }: List, token: string): string =>
  of.startsWith('/') ? request('GET', of, token) : graphqlRequest(of, {}, token);

/** Returns null if the user may not read the list. */
async function measure(service: Service, list: List, token: string): Promise<Figures | null> {
  const { base, pids, postmaster } = service;
  const once = () =>
    list.of.startsWith('/')
      ? service.call('GET', list.of, undefined, token)
      : service.call('POST', '/graphql', { query: list.of }, token);
  const first = await once().catch((error: Error) => {
    if (error.message.includes(' 403 ')) return null;
    throw error;
  });
  if (!first) return null;
  if (first['errors']) {
    if (first['errors'][0].extensions.code === 'FORBIDDEN') return null;
    throw new Error(`${list.name}: ${JSON.stringify(first['errors'])}`);
  }
  const load = (seconds: string) =>
    sendLoad({
      port: Number(new URL(base).port),
      connections: 1,
      seconds: Number(seconds),
      requests: [requestOf(list, token)],
    });
  await load(options.warm);
  const used = () => [cpuOf(pids[0]!), cpuOf(postmaster)] as const;
  const before = used();
  const outcome = await load(options.seconds);
  const [cpu, postgres] = used().map((now, i) => ((now - before[i]!) * 1e6) / outcome.answers);
  const statements = await service.statementsOf(once);
  return { ...outcome, statements, cpu: cpu!, postgres: postgres! };
}

await withService({ roles: ['web'], dist: options.dist }, async (service) => {
  await fill(service.databaseUrl, 1);
  const measurements: Measurement[] = [];
  const sizes = options.sizes.split(',').map(Number);
  const costs: number[] = [];
  let filled = 0;
  for (const size of sizes) {
    await fillDatasets(service.databaseUrl, filled + 1, size);
    filled = size;
    const lines: string[][] = [];
    for (const user of ['superuser', 'ordinary'] as const) {
      for (const list of LISTS.filter(({ grows }) => grows || size === sizes[0])) {
        const figures = await measure(service, list, TOKENS[user]);
        if (!figures) continue;
        const { p50, p99, statements, cpu, postgres, bytes, answers } = figures;
        const numbers = [statements, cpu, postgres, bytes / answers].map((number) => number.toFixed(0));
        lines.push([`${list.name}, ${user}`, p50.toFixed(1), p99.toFixed(1), ...numbers]);
        if (list.name === NO_TOTAL && user === 'superuser') costs.push(cpu + postgres);
      }
    }
    console.log(`\n## Lists of ${size} datasets and 200 users\n`);
    printTable(['list', 'p50 ms', 'p99 ms', 'statements', 'server CPU µs', 'Postgres CPU µs', 'bytes'], lines);
  }
  if (sizes.length > 1)
    measurements.push({
      what: `datasets by name without total, CPU at ${sizes.at(-1)} datasets`,
      goal: 'listGrowth',
      value: costs.at(-1)! / costs[0]!,
    });
  report(measurements);
});
