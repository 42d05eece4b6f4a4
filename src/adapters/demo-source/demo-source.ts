import pg from 'pg';
import { LOCKS } from '../../core/locks.ts';
import { ORDERS } from './demo-shop-orders.ts';
import { PEOPLE_AND_PRODUCTS, TABLES } from './demo-shop.ts';

const DATABASE = 'demo_shop';
const READER = 'demo_shop_reader';

/** Address of the demo shop and its reader's login. */
export interface DemoSource {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
}

/**
 * Ensures that the cluster has the database `demo_shop` (120,000 orders of the last 24 months, 5,000 customers, 300
 * products) and a login with this password that can read it and nothing else. It is filled once, in a few seconds;
 * later calls only set the password. `adminUrl` is the URL of a superuser on the service's own cluster. The data
 * depends only on the day of generation.
 */
export async function seedDemoSource(adminUrl: string, password: string): Promise<DemoSource> {
  const admin = await connect(adminUrl, 'postgres');
  try {
    await admin.query('select pg_advisory_lock($1)', [LOCKS.demoSource]);
    await provideReader(admin, password);
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [DATABASE]);
    if (!rowCount) await provideDatabase(admin, adminUrl);
    await closeOtherDatabases(admin);
  } finally {
    await admin.end();
  }
  const { hostname, port } = new URL(adminUrl);
  return { host: hostname, port: Number(port || 5432), database: DATABASE, user: READER, password };
}

async function provideReader(admin: pg.Client, password: string): Promise<void> {
  const { rowCount } = await admin.query('select from pg_roles where rolname = $1', [READER]);
  if (!rowCount)
    await admin.query(`create role ${READER} login nosuperuser nocreatedb nocreaterole noinherit noreplication`);
  await admin.query(`alter role ${READER} with password ${admin.escapeLiteral(password)} connection limit 20`);
  await admin.query(`alter role ${READER} set default_transaction_read_only = on`);
}

/** Fills a database under another name first, so that `demo_shop` exists complete or not at all. */
async function provideDatabase(admin: pg.Client, adminUrl: string): Promise<void> {
  const unfinished = `${DATABASE}_unfinished`;
  await admin.query(`drop database if exists ${unfinished} with (force)`);
  await admin.query(`create database ${unfinished} template template0`);
  const shop = await connect(adminUrl, unfinished);
  try {
    await shop.query(`set timezone = 'UTC'; set synchronous_commit = off;`);
    for (const statements of [TABLES, PEOPLE_AND_PRODUCTS, ORDERS]) await shop.query(statements);
    await shop.query(
      `grant usage on schema public to ${READER}; grant select on all tables in schema public to ${READER};`,
    );
    await shop.query('vacuum analyze');
  } finally {
    await shop.end();
  }
  await admin.query(`alter database ${unfinished} rename to ${DATABASE}`);
}

/**
 * By default every login may connect to every database. This revokes it, so that the demo's reader cannot connect to
 * the service's own.
 */
async function closeOtherDatabases(admin: pg.Client): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    `select quote_ident(datname) as name from pg_database where has_database_privilege('public', oid, 'connect')`,
  );
  for (const { name } of rows) await admin.query(`revoke all on database ${name} from public`);
  await admin.query(`grant connect on database ${DATABASE} to ${READER}`);
}

async function connect(url: string, database: string): Promise<pg.Client> {
  const address = new URL(url);
  address.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: address.href, application_name: 'dws demo' });
  await client.connect();
  return client;
}
