/**
 * Measures reads through both APIs as a multiple of the lower bound (raw-server.ts), on the same rows and in one
 * interleaved run. Prints Markdown. Usage:
 * `npm run build && node bench/reads.ts [rows=10000] [seconds=3] [rounds=3] [warm=8] [growth=1000,100000] [feed=100000]
 * [dist=dist]`.
 *
 * Workloads, each by REST and by GraphQL, as a superuser and as an ordinary user whose access filter selects half of
 * the rows:
 * - W1: 30 saved queries sorted by name, with their owners and the total.
 * - W2: 30 jobs sorted by name, with their owners, three actions each and the total; by GraphQL, since collections of
 *   REST embed no actions. J1 is the same list by REST without actions.
 * - W3: one saved query with its owner, a different one in each request.
 *
 * Then, against W1, the first 30 items of the feed of a team with `feed` items, as a member; by REST with the total.
 */
import { besideRaw, besides, DEFAULTS, printResults, type BesideRaw, type Cell } from './beside-raw.ts';
import { FEED_TEAM, fillFeed } from './fill-feed.ts';
import { fillJobs } from './fill-jobs.ts';
import { fill, idOf, TOKENS } from './fill.ts';
import type { GoalName } from './goals.ts';
import { readOptions } from './options.ts';
import { report, type Measurement } from './report.ts';
import { graphqlRequest, request } from './requests.ts';

/** GraphQL selection of the fields that the raw server returns. */
const FIELDS =
  'id name slug description datasourceId language params { name } version createdAt updatedAt owner { id name }';
const listQuery = (total: boolean) =>
  `query List($limit: Int) { savedQueries(limit: $limit, sort: "name") { ${total ? 'total ' : ''}items { ${FIELDS} } } }`;
const JOBS = `query Jobs($limit: Int) { jobs(limit: $limit, sort: "name") {
  total
  items {
    id name slug description type interval intervalType timezone enabled nextRunAt version createdAt updatedAt
    owner { id name }
    actions { id type name order data }
  }
} }`;
const ONE = `query One($id: ID!) { savedQuery(id: $id) { ${FIELDS} } }`;

/** Ids of every second saved query. The ordinary user owns these. */
const ids = Array.from({ length: 200 }, (_, index) => idOf(`job${2 * index + 2}`));

function allCells(): Cell[] {
  const cellsOf = (user: keyof typeof TOKENS): Cell[] => [
    {
      name: `W1 REST ${user}`,
      server: 'service',
      items: 30,
      requests: [request('GET', '/api/queries?limit=30&sort=name', TOKENS[user])],
    },
    {
      name: `W1 GraphQL ${user}`,
      server: 'service',
      items: 30,
      requests: [graphqlRequest(listQuery(true), { limit: 30 }, TOKENS[user])],
    },
    {
      name: `W2 GraphQL ${user}`,
      server: 'service',
      items: 30,
      requests: [graphqlRequest(JOBS, { limit: 30 }, TOKENS[user])],
    },
    {
      name: `J1 REST ${user}`,
      server: 'service',
      items: 30,
      requests: [request('GET', '/api/jobs?limit=30&sort=name', TOKENS[user])],
    },
    {
      name: `W3 REST ${user}`,
      server: 'service',
      items: 1,
      requests: ids.map((id) => request('GET', `/api/queries/${id}`, TOKENS[user])),
    },
    {
      name: `W3 GraphQL ${user}`,
      server: 'service',
      items: 1,
      requests: ids.map((id) => graphqlRequest(ONE, { id }, TOKENS[user])),
    },
  ];
  return [
    { name: 'W1 raw', server: 'raw', items: 30, requests: [request('GET', '/queries')] },
    { name: 'W2 raw', server: 'raw', items: 30, requests: [request('GET', '/jobs-with-actions')] },
    { name: 'J1 raw', server: 'raw', items: 30, requests: [request('GET', '/jobs')] },
    { name: 'W3 raw', server: 'raw', items: 1, requests: ids.map((id) => request('GET', `/queries/${id}`)) },
    ...cellsOf('superuser'),
    ...cellsOf('ordinary'),
  ];
}
const growing: Cell = {
  name: 'W1 GraphQL superuser, no total',
  server: 'service',
  items: 30,
  requests: [graphqlRequest(listQuery(false), { limit: 30 }, TOKENS.superuser)],
};

const feedDocument = (total: string) => `query Feed($id: ID!) {
  team(id: $id) {
    feed(limit: 30) { ${total} items { id type entityType entityId message createdAt viewed user { id username } } }
  }
}`;
const feedCell = (name: string, of: string): Cell => ({ name, server: 'service', requests: [of] });
const feedCells: Cell[] = [
  feedCell('Feed REST', request('GET', `/api/teams/${FEED_TEAM}/feed?limit=30`, TOKENS.ordinary)),
  feedCell('Feed GraphQL', graphqlRequest(feedDocument(''), { id: FEED_TEAM }, TOKENS.ordinary)),
  feedCell('Feed GraphQL, total', graphqlRequest(feedDocument('total'), { id: FEED_TEAM }, TOKENS.ordinary)),
];

/** Measures the first page of a feed against W1 as the same caller. Returns it as a multiple of W1 in the same API. */
async function measureFeed({ databaseUrl, measure }: BesideRaw, items: string): Promise<Measurement[]> {
  await fillFeed(databaseUrl, Number(items));
  const results = await measure([...allCells().filter(({ name }) => /^W1 .* ordinary$/.test(name)), ...feedCells]);
  printResults(`The first page of a feed of ${items} items`, results);
  return feedCells.flatMap(({ name }) => {
    const beside = results.get(name.includes('REST') ? 'W1 REST ordinary' : 'W1 GraphQL ordinary')!;
    return (['cpu', 'postgres'] as const).map((key) => ({
      what: `${name}, ${key === 'cpu' ? 'server' : 'Postgres'} CPU`,
      goal: 'feedPage' as const,
      value: results.get(name)![key] / beside[key],
    }));
  });
}

const GOAL_OF: Record<string, GoalName> = { W1: 'w1', W2: 'w2', J1: 'w2', W3: 'w3' };

const options = readOptions({ ...DEFAULTS, growth: '1000,100000', feed: '100000', only: '' });
await besideRaw(options, async (servers) => {
  const { databaseUrl, measure, memory } = servers;
  await fill(databaseUrl, Number(options.rows));
  await fillJobs(databaseUrl, Number(options.rows));
  const words = options.only.split(',');
  const selected = allCells().filter(
    ({ name, server }) => server === 'raw' || words.some((word) => name.includes(word)),
  );
  const results = await measure(selected);
  printResults(`Reads of ${options.rows} queries`, results);
  const feed = options.feed ? await measureFeed(servers, options.feed) : [];
  const grown: number[] = [];
  for (const size of options.growth.split(',').filter(Boolean)) {
    await fill(databaseUrl, Number(size));
    const growth = await measure([growing]);
    printResults(`Growth: ${size} queries`, growth);
    grown.push(growth.get(growing.name)!.cpu);
  }
  console.log(`\nMemory of the service afterwards: ${memory().toFixed(0)} MiB`);
  report([
    ...besides(results, 'cpu', (workload) => GOAL_OF[workload]!),
    ...feed,
    ...(grown.length > 1
      ? [
          {
            what: `W1 without total, ${options.growth.split(',').at(-1)} queries`,
            goal: 'w1Growth',
            value: grown.at(-1)! / grown[0]!,
          } as const,
        ]
      : []),
  ]);
});
