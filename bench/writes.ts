/**
 * Measures writes through both APIs as a multiple of the lower bound (raw-server.ts), in one interleaved run, and their
 * growth with the number of rows. Prints Markdown. Usage:
 * `npm run build && node bench/writes.ts [rows=10000] [seconds=3] [rounds=3] [warm=8] [growth=1000,100000] [dist=dist]
 * [profile=dir]`.
 *
 * W4, by REST and by GraphQL, as a superuser and as an ordinary user: a saved query is created, renamed and deleted.
 */
import { besideRaw, besides, DEFAULTS, printResults, type Cell } from './beside-raw.ts';
import { fill, idOf, TOKENS } from './fill.ts';
import { NEW_ID, NEW_SLUG } from './load.ts';
import { readOptions } from './options.ts';
import { report, type Measurement } from './report.ts';
import { graphqlRequest, request } from './requests.ts';

const INPUT = { name: 'bench-new', slug: NEW_SLUG, datasourceId: idOf('datasource'), query: 'select 1' };
const RENAMED = { name: 'bench-upd' };
const CREATE = 'mutation ($input: CreateSavedQueryInput!) { createSavedQuery(input: $input) { id name } }';
const UPDATE =
  'mutation ($id: ID!, $input: UpdateSavedQueryInput!) { updateSavedQuery(id: $id, input: $input) { id name } }';
const DELETE = 'mutation ($id: ID!) { deleteSavedQuery(id: $id) }';

const cellsOf = (user: keyof typeof TOKENS): Cell[] => [
  {
    name: `W4 REST ${user}`,
    server: 'service',
    cycle: true,
    requests: [
      request('POST', '/api/queries', TOKENS[user], INPUT),
      request('PUT', `/api/queries/${NEW_ID}`, TOKENS[user], RENAMED),
      request('DELETE', `/api/queries/${NEW_ID}`, TOKENS[user]),
    ],
  },
  {
    name: `W4 GraphQL ${user}`,
    server: 'service',
    cycle: true,
    requests: [
      graphqlRequest(CREATE, { input: INPUT }, TOKENS[user]),
      graphqlRequest(UPDATE, { id: NEW_ID, input: RENAMED }, TOKENS[user]),
      graphqlRequest(DELETE, { id: NEW_ID }, TOKENS[user]),
    ],
  },
];
const raw: Cell = {
  name: 'W4 raw',
  server: 'raw',
  cycle: true,
  requests: [
    request('POST', '/queries', '', { ...INPUT, owner: `user:${idOf('user1')}` }),
    request('PATCH', `/queries/${NEW_ID}`, '', RENAMED),
    request('DELETE', `/queries/${NEW_ID}`),
  ],
};

const options = readOptions({ ...DEFAULTS, growth: '1000,100000' });
await besideRaw(options, async ({ databaseUrl, measure }) => {
  await fill(databaseUrl, Number(options.rows));
  const results = await measure([raw, ...cellsOf('superuser'), ...cellsOf('ordinary')]);
  printResults(`Writes at ${options.rows} queries`, results);
  const grown: { rows: string; results: typeof results }[] = [];
  for (const rows of options.growth.split(',').filter(Boolean)) {
    await fill(databaseUrl, Number(rows));
    grown.push({ rows, results: await measure([raw, ...cellsOf('superuser')]) });
    printResults(`Growth: writes at ${rows} queries`, grown.at(-1)!.results);
  }
  const [first, last] = [grown[0], grown.at(-1)];
  const growthOf = (name: string, key: 'cpu' | 'postgres'): Measurement => ({
    what: `${name}, ${key === 'cpu' ? 'server' : 'Postgres'} CPU at ${last!.rows} queries`,
    goal: 'w4Growth',
    value: last!.results.get(name)![key] / first!.results.get(name)![key],
  });
  report([
    ...besides(results, 'cpu', () => 'w4'),
    ...besides(results, 'postgres', () => 'w4Postgres'),
    ...(first === last
      ? []
      : cellsOf('superuser').flatMap(({ name }) => [growthOf(name, 'cpu'), growthOf(name, 'postgres')])),
  ]);
});
