/**
 * Measures reads through both APIs as a multiple of the lower bound (raw-server.ts), on the same rows and in one
 * interleaved run. Prints Markdown. Usage:
 * `npm run build && node bench/reads.ts [rows=10000] [seconds=3] [rounds=3] [warm=8] [growth=1000,100000] [dist=dist]`.
 *
 * Workloads, each by REST and by GraphQL, as a superuser and as an ordinary user whose access filter selects half of
 * the rows:
 * - W1: 30 saved queries sorted by name, with their owners and the total.
 * - W3: one saved query with its owner, a different one in each request.
 */
import { besideRaw, besides, DEFAULTS, printResults, type Cell } from './beside-raw.ts';
import { fill, idOf, TOKENS } from './fill.ts';
import { readOptions } from './options.ts';
import { report } from './report.ts';
import { graphqlRequest, request } from './requests.ts';

/** GraphQL selection of the fields that the raw server returns. */
const FIELDS =
  'id name slug description datasourceId language params { name } version createdAt updatedAt owner { id name }';
const listQuery = (total: boolean) =>
  `query List($limit: Int) { savedQueries(limit: $limit, sort: "name") { ${total ? 'total ' : ''}items { ${FIELDS} } } }`;
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

const options = readOptions({ ...DEFAULTS, growth: '1000,100000', only: '' });
await besideRaw(options, async ({ databaseUrl, measure, memory }) => {
  await fill(databaseUrl, Number(options.rows));
  const words = options.only.split(',');
  const selected = allCells().filter(
    ({ name, server }) => server === 'raw' || words.some((word) => name.includes(word)),
  );
  const results = await measure(selected);
  printResults(`Reads of ${options.rows} queries`, results);
  const grown: number[] = [];
  for (const size of options.growth.split(',').filter(Boolean)) {
    await fill(databaseUrl, Number(size));
    const growth = await measure([growing]);
    printResults(`Growth: ${size} queries`, growth);
    grown.push(growth.get(growing.name)!.cpu);
  }
  console.log(`\nMemory of the service afterwards: ${memory().toFixed(0)} MiB`);
  report([
    ...besides(results, 'cpu', (workload) => (workload === 'W1' ? 'w1' : 'w3')),
    { what: 'W2', goal: 'w2', missing: 'there are no jobs yet' },
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
