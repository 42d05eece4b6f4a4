import { test as base } from '../support/fixture.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { createSource } from '../support/shop-fixture.ts';

/** The tables of the demo shop that the examples read: six order lines, the first of 2025, the last with a long amount. */
const CREATE_SHOP = `
  create table customers (id integer primary key, country text);
  create table orders (id integer primary key, customer_id integer, ordered_at timestamptz);
  create table order_items (order_id integer, line integer, amount numeric(18,4));
  insert into customers values (1, 'France'), (2, 'Germany');
  insert into orders
    select n, 1 + n % 2, timestamptz '2025-12-31 12:00Z' + n * interval '1 day' from generate_series(0, 5) n;
  insert into order_items select n, 1, n * 100 + 0.25 from generate_series(0, 4) n;
  insert into order_items values (5, 1, 12345678901234.5678)`;

/** A service with the datasource `shop` of ann. */
export const test = base.extend<{ shop: { id: string } }>({
  shop: [
    async ({ admin, ann }, use) => {
      const database = await createDatabase('template0');
      await runSql(database.url, CREATE_SHOP);
      const { hostname, port, pathname, username, password } = new URL(database.url);
      const config = { host: hostname, port: Number(port), database: pathname.slice(1), user: username };
      const address = {
        url: database.url,
        config,
        secrets: { password },
        sql: (text: string) => runSql(database.url, text),
      };
      await use(await createSource(admin, address, { ownerId: ann.id }));
      await database.drop();
    },
    { scope: 'file' },
  ],
});
