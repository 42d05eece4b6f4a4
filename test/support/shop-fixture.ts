import type { Client } from './client.ts';
import { test as base } from './fixture.ts';
import { createDatabase } from './postgres.ts';
import { runSql } from './run-sql.ts';

/** A database of the file's own with a small shop in it: `orders` 1 to 20, four regions in turn, amounts 10, 20, … 200. */
export interface Shop {
  url: string;
  config: Record<string, unknown>;
  secrets: Record<string, string>;
  /** Runs SQL in it, past the service. */
  sql(text: string, values?: unknown[]): ReturnType<typeof runSql>;
}

const ORDERS = `create table orders (id integer primary key, region text, amount numeric(10,2), ordered_on date, note text);
  insert into orders select n, (array['EU','US','APAC',null])[1 + n % 4], n * 10, date '2026-01-01' + n, case when n % 5 = 0 then 'Rush delivery to Zoë' end from generate_series(1, 20) n;
  comment on table orders is 'for tests'`;

async function openShop(): Promise<Shop & { drop(): Promise<void> }> {
  const database = await createDatabase('template0');
  await runSql(database.url, ORDERS);
  const { hostname, port, pathname, username, password } = new URL(database.url);
  return {
    url: database.url,
    drop: database.drop,
    sql: (text, values) => runSql(database.url, text, values),
    config: { host: hostname, port: Number(port), database: pathname.slice(1), user: username },
    secrets: { password },
  };
}

/** The world with a shop, and a datasource of it that the superuser made and gave to ann. */
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
    async ({ admin, ann, shop }, use) => use(await makeSource(admin, shop, { name: 'Shop', ownerId: ann.id })),
    { scope: 'file' },
  ],
});

export const makeSource = (
  maker: Client,
  { config, secrets }: Shop,
  more: Record<string, unknown> = {},
): Promise<{ id: string; slug: string }> =>
  maker.creates('/datasources', { name: 'Shop', type: 'postgres', config, secrets, ...more });

export const ORDERS_QUERY = 'select id, region, amount, ordered_on, note from orders order by id';
