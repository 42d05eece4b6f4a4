import { besideRaw, DEFAULTS, type Cell } from './beside-raw.ts';
import { fill, idOf, TOKENS } from './fill.ts';
import { NEW_ID, NEW_SLUG } from './load.ts';
import { readOptions } from './options.ts';
import { graphqlRequest, request } from './requests.ts';
const options = readOptions({ ...DEFAULTS, api: 'REST', user: 'superuser', windows: '8' } as any) as any;
const INPUT = { name: 'bench-new', slug: NEW_SLUG, datasourceId: idOf('datasource'), query: 'select 1' };
const RENAMED = { name: 'bench-upd' };
const CREATE = 'mutation ($input: CreateSavedQueryInput!) { createSavedQuery(input: $input) { id name } }';
const UPDATE =
  'mutation ($id: ID!, $input: UpdateSavedQueryInput!) { updateSavedQuery(id: $id, input: $input) { id name } }';
const DELETE = 'mutation ($id: ID!) { deleteSavedQuery(id: $id) }';
const T = TOKENS[options.user as keyof typeof TOKENS];
const cell: Cell = {
  name: 'W4',
  server: 'service',
  cycle: true,
  requests:
    options.api === 'REST'
      ? [
          request('POST', '/api/queries', T, INPUT),
          request('PUT', `/api/queries/${NEW_ID}`, T, RENAMED),
          request('DELETE', `/api/queries/${NEW_ID}`, T),
        ]
      : [
          graphqlRequest(CREATE, { input: INPUT }, T),
          graphqlRequest(UPDATE, { id: NEW_ID, input: RENAMED }, T),
          graphqlRequest(DELETE, { id: NEW_ID }, T),
        ],
};
const raw: Cell = {
  name: 'raw',
  server: 'raw',
  cycle: true,
  requests: [
    request('POST', '/queries', '', { ...INPUT, owner: `user:${idOf('user1')}` }),
    request('PATCH', `/queries/${NEW_ID}`, '', RENAMED),
    request('DELETE', `/queries/${NEW_ID}`),
  ],
};
await besideRaw({ ...options, rounds: '1', warm: '0.2' }, async ({ databaseUrl, measure, memory }) => {
  await fill(databaseUrl, 10000);
  for (let i = 0; i < Number(options.windows); i++) {
    const r = (await measure([cell])).get('W4')!;
    const b = i % 4 === 0 ? (await measure([raw])).get('raw')! : undefined;
    console.log(
      i,
      'cpu',
      r.cpu.toFixed(0),
      'pg',
      r.postgres.toFixed(0),
      'rps',
      (r.answers / r.seconds).toFixed(0),
      'mem',
      memory().toFixed(0),
      b ? `raw ${b.cpu.toFixed(0)} pg ${b.postgres.toFixed(0)}` : '',
    );
  }
});
