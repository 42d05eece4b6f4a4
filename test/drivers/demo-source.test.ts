import { randomBytes } from 'node:crypto';
import { beforeAll, expect, inject, test } from 'vitest';
import { seedDemoSource, type DemoSource } from '../../src/adapters/demo-source/demo-source.ts';
import { runSql } from '../support/run-sql.ts';

let source: DemoSource;
let url: string;

beforeAll(async () => {
  source = await seedDemoSource(inject('postgres').url, randomBytes(16).toString('base64url'));
  url = `postgres://${source.user}:${source.password}@${source.host}:${source.port}/${source.database}`;
});

test('the shop has 5,000 customers, 300 products in ten categories and 120,000 orders with their lines', async () => {
  expect(
    await runSql(
      url,
      `select
        (select count(*)::int from customers) as customers,
        (select count(*)::int from products) as products,
        (select count(*)::int from categories) as categories,
        (select count(*)::int from orders) as orders,
        (select count(*)::int from order_items) as lines`,
    ),
  ).toEqual([{ customers: 5000, products: 300, categories: 10, orders: 120_000, lines: expect.any(Number) as number }]);
});

test('orders are of the last 24 months and later than the registration, and their totals add up', async () => {
  expect(
    await runSql(
      url,
      `select
        min(ordered_at) > now() - interval '732 days' as recent,
        max(ordered_at) < now() + interval '1 day' as past,
        bool_and(o.ordered_at >= c.registered_at) as registered,
        count(distinct o.customer_id) > 4000 as spread,
        count(*) filter (where coupon is null) between 90000 and 115000 as nulls
      from orders o
      join customers c on c.id = o.customer_id`,
    ),
  ).toEqual([{ recent: true, past: true, registered: true, spread: true, nulls: true }]);
  expect(
    await runSql(
      url,
      `select count(*)::int as wrong
      from orders o
      join (
        select order_id, sum(amount) as amount, count(*) as lines
        from order_items
        group by 1
      ) i on i.order_id = o.id
      where total <> shipping + amount or items <> lines`,
    ),
  ).toEqual([{ wrong: 0 }]);
});

test('December has at least one and a half times the orders of July, and names have accents', async () => {
  expect(
    await runSql(
      url,
      `select
        count(*) filter (where extract(month from ordered_at) = 12)
        > 1.5 * count(*) filter (where extract(month from ordered_at) = 7) as season
      from orders`,
    ),
  ).toEqual([{ season: true }]);
  expect(await runSql(url, `select count(*) > 1000 as accents from customers where name ~ '[^ -~]'`)).toEqual([
    { accents: true },
  ]);
});

test('its login reads the shop and can do nothing else', async () => {
  for (const statement of [
    'delete from orders',
    'create table mine (id int)',
    'create temp table mine (id int)',
    `copy orders to program 'cat'`,
    'create role intruder',
  ]) {
    await expect(runSql(url, `begin; set transaction read write; ${statement}`)).rejects.toThrow(/permission denied/);
  }
  for (const database of ['dws', 'postgres', 'template1']) {
    await expect(runSql(url.replace(/demo_shop$/, database), 'select 1')).rejects.toThrow(
      'permission denied for database',
    );
  }
});

test('seeding again keeps the data and sets the password', async () => {
  const hashOrders = () => runSql(url, 'select md5(string_agg(o::text, $1 order by id)) as hash from orders o', [',']);
  const before = await hashOrders();
  const again = await seedDemoSource(inject('postgres').url, 'another-password');
  await expect(runSql(url, 'select 1')).rejects.toThrow('password authentication failed');
  url = url.replace(source.password, again.password);
  expect(await hashOrders()).toEqual(before);
});
