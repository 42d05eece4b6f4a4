import type { Client } from './client.ts';
import { test as base } from './fixture.ts';
import { createDatabase } from './postgres.ts';
import { runSql } from './run-sql.ts';

/**
 * A database of the test file with a small shop: `orders` 1 to 20, amounts 10, 20, … 200, the regions `US`, `APAC`,
 * null and `EU` in turn.
 */
export interface Shop {
  url: string;
  config: Record<string, unknown>;
  secrets: Record<string, string>;
  /** Runs SQL directly in the database. */
  sql(text: string, values?: unknown[]): ReturnType<typeof runSql>;
}

const CREATE_ORDERS = `
  create table orders (id integer primary key, region text, amount numeric(10,2), ordered_on date, note text);
  insert into orders
  select n, (array['EU','US','APAC',null])[1 + n % 4], n * 10, date '2026-01-01' + n,
    case when n % 5 = 0 then 'Rush delivery to Zoë' end
  from generate_series(1, 20) n;
  comment on table orders is 'for tests'`;

async function openShop(): Promise<Shop & { drop(): Promise<void> }> {
  const database = await createDatabase('template0');
  await runSql(database.url, CREATE_ORDERS);
  const { hostname, port, pathname, username, password } = new URL(database.url);
  return {
    url: database.url,
    drop: database.drop,
    sql: (text, values) => runSql(database.url, text, values),
    config: { host: hostname, port: Number(port), database: pathname.slice(1), user: username },
    secrets: { password },
  };
}

/** Fixtures of a service with a shop database, and a datasource for it that is owned by ann. */
export const test = base.extend<{ shop: Shop; source: { id: string } }>({
  shop: [
    async ({}, use) => {
      const shop = await openShop();
      await use(shop);
      await shop.drop();
    },
    { scope: 'file' },
  ],
  source: [
    async ({ admin, ann, shop }, use) => use(await createSource(admin, shop, { name: 'Shop', ownerId: ann.id })),
    { scope: 'file' },
  ],
});

/** Creates a datasource for a shop database. */
export const createSource = (
  client: Client,
  { config, secrets }: Shop,
  input: Record<string, unknown> = {},
): Promise<{ id: string; slug: string }> =>
  client.creates('/datasources', { name: 'Shop', type: 'postgres', config, secrets, ...input });

export const ORDERS_QUERY = 'select id, region, amount, ordered_on, note from orders order by id';
