/** The people of the measured service and what they own: a victim, a second user of its tenant and one of another. */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { call, createForm } from './client.ts';

/** Rows of a file whose join with itself takes some ten seconds. */
const JOINED_ROWS = 20_000;
const SMALL_ROWS = 200;
/** Datasets whose refreshes a neighbour queues. Refreshes of one dataset run one at a time. */
const QUEUED_DATASETS = 8;

const PERMISSIONS = '["datasets:create", "datasources:create", "apps:create", "jobs:create"]';

/** Paths that the victim reads. */
export interface Victim {
  token: string;
  dataset: string;
  /** A dataset that is never searched, so that its copies have no word index. */
  unsearched: string;
  source: string;
  file: string;
  /** A job without actions, whose runs wait for a place alone. */
  job: string;
}

/** Paths that a neighbour uses. */
export interface Neighbour {
  token: string;
  /** A large dataset. */
  dataset: string;
  /** A copy of it that is never searched. */
  unsearched: string;
  small: string;
  queued: string[];
  source: string;
  file: string;
}

export interface World {
  victim: Victim;
  /** In the victim's tenant. */
  near: Neighbour;
  /** In another tenant. */
  far: Neighbour;
}

const tokenOf = (name: string): string => `dws_${name[0]!.repeat(43)}`;

const SOURCE_ROWS = (rows: number) => `create table orders as
  select n as id,
    'Customer ' || (n * 7919) % 50000 as customer,
    (array['RU','DE','US','FR','CN','IN','BR','GB'])[1 + n * 17 % 8] as country,
    (n * 104729 % 1000000 / 100.0)::numeric(12,2) as amount,
    timestamptz '2022-01-01 00:00Z' + n * interval '94.6 seconds' as created,
    md5(n::text) as h1,
    md5((n * 31)::text) || ' ' || md5((n * 17)::text) as h2
  from generate_series(1, ${rows}::bigint) n`;

const PEOPLE = [
  { name: 'victim', tenant: 'home' },
  { name: 'near', tenant: 'home' },
  { name: 'far', tenant: 'elsewhere' },
].map(({ name, tenant }) => {
  const ids = `md5('${tenant}')::uuid, md5('${name}')::uuid`;
  const hash = createHash('sha256').update(tokenOf(name)).digest('base64url');
  return `
    insert into dws.tenant (id, slug) values (md5('${tenant}')::uuid, '${tenant}') on conflict do nothing;
    insert into dws.app_user (tenant_id, id, username, enabled, permissions)
      values (${ids}, '${name}', true, '${PERMISSIONS}');
    insert into dws.api_token (tenant_id, user_id, id, name, token_hash, prefix, scopes)
      values (${ids}, md5('token of ${name}')::uuid, 'bench', '${hash}', 'dws_bench', '["read", "write"]');`;
});

async function runSql(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Creates a database `source` with `rows` orders in addition to the service's database. Returns its URL. */
export async function createSource(databaseUrl: string, rows: number): Promise<string> {
  const url = databaseUrl.replace(/dws$/, 'source');
  await runSql(databaseUrl, 'create database source');
  await runSql(url, SOURCE_ROWS(rows));
  return url;
}

/** Creates tenants, people, datasources and datasets in a service that runs. */
export async function createWorld(databaseUrl: string, sourceUrl: string): Promise<World> {
  // This role crosses tenants.
  await runSql(databaseUrl, 'set role dws_system', ...PEOPLE);
  return {
    victim: await createVictim(tokenOf('victim'), sourceUrl),
    near: await createNeighbour(tokenOf('near'), sourceUrl),
    far: await createNeighbour(tokenOf('far'), sourceUrl),
  };
}

async function createVictim(token: string, sourceUrl: string): Promise<Victim> {
  const source = await createDatasource(token, sourceUrl);
  const small = { source, query: `select * from orders limit ${SMALL_ROWS}` };
  const dataset = await createDataset(token, 'Small', small);
  const unsearched = await createDataset(token, 'Unsearched', small);
  const { id } = await call(token, '/api/jobs', { body: { name: 'Nothing', type: 'actions' } });
  return { token, dataset, unsearched, source, file: await upload(token, 1000), job: `/api/jobs/${String(id)}` };
}

async function createNeighbour(token: string, sourceUrl: string): Promise<Neighbour> {
  const source = await createDatasource(token, sourceUrl);
  const dataset = await createDataset(token, 'Large', { source, query: 'select * from orders' });
  const { id } = await call(token, `${dataset}/copy`, { body: { name: 'Unsearched' } });
  // Builds the word index.
  await call(token, `${dataset}/data?q=customer&limit=1`);
  const small = await createDataset(token, 'Small', { source, query: `select * from orders limit ${SMALL_ROWS}` });
  const queued: string[] = [];
  for (let n = 0; n < QUEUED_DATASETS; n++)
    queued.push(
      await createDataset(token, `Queued ${n}`, {
        source,
        query: 'select * from orders where id <> {{n}} limit 10000',
        params: [{ name: 'n', dataType: 'number', defaultValue: 0 }],
      }),
    );
  const file = await upload(token, JOINED_ROWS);
  return { token, dataset, unsearched: `/api/datasets/${String(id)}`, small, queued, source, file };
}

async function createDatasource(token: string, sourceUrl: string): Promise<string> {
  const { hostname, port, username, password } = new URL(sourceUrl);
  const body = {
    name: 'Orders',
    type: 'postgres',
    config: { host: hostname, port: Number(port), database: 'source', user: username },
    secrets: { password: decodeURIComponent(password) },
  };
  const { id } = await call(token, '/api/datasources', { body });
  return `/api/datasources/${String(id)}`;
}

async function createDataset(
  token: string,
  name: string,
  { source, ...query }: { source: string; query: string; params?: object[] },
): Promise<string> {
  const datasourceId = source.split('/').pop();
  const { id } = await call(token, '/api/datasets', { body: { name, datasourceId, ...query, refresh: true } });
  return `/api/datasets/${String(id)}`;
}

async function upload(token: string, rows: number): Promise<string> {
  const { id } = await call(token, '/api/datasources/_upload', { body: createForm(csvOf(rows)) });
  return `/api/datasources/${String(id)}`;
}

/** Returns a CSV file of this number of rows, of some 50 bytes each. */
export const csvOf = (rows: number): string =>
  `id,customer,amount,note\n${Array.from(
    { length: rows },
    (_, n) => `${n},Customer ${(n * 7919) % 50_000},${n % 997}.5,note ${((n * 2_654_435_761) % 2 ** 32).toString(36)}`,
  ).join('\n')}\n`;
