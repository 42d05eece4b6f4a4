// The service as a contender of ../shared/bench: CONTENDER=<this file> CONTENDER_SIZE=<contender-size in its folder>
// run.sh http only=nodehttp-pg,ours-rest,ours-graphql
// It needs `npm run build`, and serves its own tables in the same Postgres, as a superuser with a bearer token.
const { join } = require('node:path');

const ROOT = join(__dirname, '..');
const headers = { authorization: `Bearer dws_${'s'.repeat(43)}` };
const FIELDS =
  'id name slug description datasourceId language params { name } version createdAt updatedAt owner { id name }';
const datasource = require('node:crypto')
  .createHash('md5')
  .update('datasource')
  .digest('hex')
  .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const start = {
  cmd: [
    join(ROOT, 'node_modules/.bin/node'),
    '--max-semi-space-size=16',
    '--heap-growing-percent=150',
    join(ROOT, 'dist/src/server/main.js'),
    'serve',
  ],
  cwd: ROOT,
  ping: '/healthz',
  env: {
    ROLE: 'web',
    DATA_DIR: join(ROOT, '.cache/contender'),
    APP_SECRET: 'a secret for benchmarks of enough characters',
    RATE_LIMIT_API: '0',
    SEED_DEMO: 'false',
    LOG_LEVEL: 'warn',
  },
};
const made = { name: 'bench-new', slug: '%SLUG%', datasourceId: datasource, query: 'select 1' };
const json = (value) => JSON.stringify(value);

module.exports = ({ gql }) => [
  {
    ...start,
    name: 'ours-rest',
    port: 6011,
    wl: {
      w1_list: { path: '/api/queries?limit=30&sort=name', kind: 'list', headers },
      w3_one: { path: '/api/queries/%ID%', kind: 'one', headers },
      w4_cud: {
        headers,
        cycle: {
          key: 'id',
          create: { method: 'POST', path: '/api/queries', body: json(made) },
          update: { method: 'PUT', path: '/api/queries/%ID%', body: json({ name: 'bench-upd' }) },
          delete: { method: 'DELETE', path: '/api/queries/%ID%' },
        },
      },
    },
  },
  {
    ...start,
    name: 'ours-graphql',
    port: 6012,
    wl: {
      w1_list: gql(`{ savedQueries(limit: 30, sort: "name") { total items { ${FIELDS} } } }`, undefined, {
        kind: 'list',
        headers,
      }),
      w3_one: gql(`query($id: ID!) { savedQuery(id: $id) { ${FIELDS} } }`, { id: '%ID%' }, { kind: 'one', headers }),
      w4_cud: {
        headers,
        cycle: {
          key: 'id',
          create: gql('mutation($i: CreateSavedQueryInput!) { createSavedQuery(input: $i) { id name } }', { i: made }),
          update: gql(
            'mutation($id: ID!, $i: UpdateSavedQueryInput!) { updateSavedQuery(id: $id, input: $i) { id name } }',
            { id: '%ID%', i: { name: 'bench-upd' } },
          ),
          delete: gql('mutation($id: ID!) { deleteSavedQuery(id: $id) }', { id: '%ID%' }),
        },
      },
    },
  },
];
