import { expect } from 'vitest';
import { test as base } from '../support/fixture.ts';
import { deployApp, post, withBodies, type DeployedApp } from './handler-fixture.ts';

const ORDERS = `create table orders (id int primary key, number bigint, price numeric, at timestamptz, tags text[]);
insert into orders values (1, 9007199254740993, 1.10, '2026-01-31 10:00Z', '{a,b}');`;

/** The statement that counts idle transactions of the app, as code. */
const IDLE = `"select count(*)::int from pg_stat_activity where state = 'idle in transaction' and usename = current_user"`;

const test = base.extend<{ app: DeployedApp }>({
  app: [
    async ({ admin, service }, use) => {
      const app = await deployApp({ admin, service }, 'Database', {
        'migrations/001.sql': ORDERS,
        ...withBodies({
          rows: `return query('select *, $1::int + 1 as next from orders', [41])`,
          error: `try { await query('insert into orders values (1)') } catch (error) {
              return [error instanceof Error, error.code, error.message] }`,
          values: `const round = async (type, value) => (await query('select $1::' + type + ' as value', [value]))[0].value;
              const outcomes = {};
              for (const [name, [type, value]] of Object.entries({
                bytes: ['bytea', new Uint8Array([1, 2, 254])],
                buffer: ['bytea', new Uint8Array([1, 2, 254]).buffer],
                part: ['bytea', new Uint8Array([0, 1, 2, 254, 9]).subarray(1, 4)],
                words: ['bytea', new Uint16Array([513])],
                view: ['bytea', new DataView(new Uint8Array([1, 2, 254]).buffer)],
                none: ['bytea', new Uint8Array()],
                listOfBytes: ['bytea[]', [new Uint8Array([1]), null]],
                list: ['jsonb', ['x', 'y', { z: [1] }]],
                empty: ['jsonb', []],
                json: ['json', [1, null]],
                object: ['jsonb', { a: ['x'] }],
                texts: ['text[]', ['x', 'a "b", {c}', null]],
                numbers: ['int[]', [1, 2]],
                matrix: ['int[]', [[1, 2], [3, 4]]],
                objects: ['jsonb[]', [{ a: 1 }, { b: 'x' }]],
                nan: ['float8', NaN],
                infinity: ['numeric', -Infinity],
                big: ['int8', 9007199254740993n],
                bigInJson: ['jsonb', '{"id":98765432109876543210,"n":1.5}'],
                missing: ['text', undefined],
              })) outcomes[name] = await round(type, value);
              return outcomes`,
          mistakes: `const fail = (sql, params) => query(sql, params).then(() => 'ok', (error) => [error.code, error.message]);
              return [
                await fail('select $1::int + $2::int', [1]),
                await fail('select 1', [1]),
                await fail('select $1::int'),
                await fail('select $1::jsonb, $2::int', [['x'], 'y']),
                await fail('selec $1', [['x']]),
                await query('select 1 as one'),
              ]`,
          syntax: `return query('select from from')`,
          committed: `const result = await transaction(async ({ query }) => {
                await query('insert into orders values (2)');
                return (await query('select count(*) from orders'))[0].count;
              });
              return [result, (await query('select count(*) from orders'))[0].count]`,
          undone: `try {
                await transaction(async ({ query }) => {
                  await query('insert into orders values (3)');
                  throw new RangeError('no');
                });
              } catch (error) {
                return [error.name, error.message, (await query('select from orders where id = 3')).length];
              }`,
          failed: `try {
                await transaction(async ({ query }) => {
                  await query('insert into orders values (1)').catch(() => {});
                });
              } catch (error) { return error.code }`,
          outside: `return transaction(async (inner) => {
                await inner.query('insert into orders values (4)');
                return [(await query('select from orders where id = 4')).length,
                  (await inner.query('select from orders where id = 4')).length];
              })`,
          ended: `let inner;
              await transaction(async ({ query }) => { inner = query; });
              try { await inner('select 1') } catch (error) { return error.code }`,
          abandoned: `transaction(async ({ query }) => {
                await query('insert into orders values (5)');
                await new Promise(() => {});
              });
              while ((await query(${IDLE}))[0].count === 0);
              return 1`,
          open: `return (await query(${IDLE}))[0].count`,
          count: `return query('select count(*) from orders where id = $1', [request.body])`,
          many: `return (await Promise.all(Array.from({ length: 50 }, (_, i) => query('select $1::int as i', [i]))))
              .map(([{ i }]) => i).reduce((sum, i) => sum + i)`,
          transactions: `const started = [];
              const inOthers = await Promise.all(Array.from({ length: 4 }, () => transaction(async (inner) => {
                await inner.query('select 1');
                return (await query('select 2 as two'))[0].two;
              })));
              return inOthers`,
          crowded: `const held = "select count(*)::int as count from pg_locks where locktype = 'advisory' and objid = 7";
              return Promise.all(Array.from({ length: Number(request.body) }, () => transaction(async (inner) => {
                await inner.query('select pg_advisory_xact_lock_shared(7)');
                while ((await inner.query(held))[0].count < 7) await new Promise((resolve) => setTimeout(resolve, 20));
                return query('select 1').then(() => 'rows', (error) => error.code);
              })))`,
          tooMany: `const wait = Promise.withResolvers();
              const running = Array.from({ length: 6 }, () => transaction(() => wait.promise));
              return Promise.any(running.map((one) => one.then(() => 0, (error) => Promise.resolve(error.code)))).finally(() => {
                wait.resolve();
                return Promise.allSettled(running);
              })`,
        }),
      });
      await use(app);
    },
    { scope: 'file' },
  ],
});

test('returns rows with values of JSON', async ({ app }) => {
  expect((await post(app, 'rows')).json).toEqual([
    { id: 1, number: '9007199254740993', price: '1.10', at: '2026-01-31T10:00:00Z', tags: ['a', 'b'], next: 42 },
  ]);
});

test('takes parameters of all kinds', async ({ app }) => {
  const bytes = Buffer.from([1, 2, 254]).toString('base64');
  expect((await post(app, 'values')).json).toEqual({
    bytes,
    buffer: bytes,
    part: bytes,
    words: Buffer.from([1, 2]).toString('base64'),
    view: bytes,
    none: '',
    listOfBytes: [Buffer.from([1]).toString('base64'), null],
    list: ['x', 'y', { z: [1] }],
    empty: [],
    json: [1, null],
    object: { a: ['x'] },
    texts: ['x', 'a "b", {c}', null],
    numbers: [1, 2],
    matrix: [
      [1, 2],
      [3, 4],
    ],
    objects: [{ a: 1 }, { b: 'x' }],
    nan: 'NaN',
    infinity: '-Infinity',
    big: '9007199254740993',
    bigInJson: { id: '98765432109876543210', n: 1.5 },
    missing: null,
  });
});

test('says in the words of Postgres what is wrong with parameters', async ({ app }) => {
  const wrong = (given: number, required: number) => [
    '08P01',
    `bind message supplies ${given} parameters, but prepared statement "" requires ${required}`,
  ];
  expect((await post(app, 'mistakes')).json).toEqual([
    wrong(1, 2),
    wrong(1, 0),
    wrong(0, 1),
    ['22P02', 'invalid input syntax for type integer: "y"'],
    ['42601', 'syntax error at or near "selec"'],
    [{ one: 1 }],
  ]);
});

test('throws errors with their SQLSTATE and message', async ({ app }) => {
  expect((await post(app, 'error')).json).toEqual([
    true,
    '23505',
    'duplicate key value violates unique constraint "orders_pkey"',
  ]);
  expect(await app.fail('server/syntax.js', { method: 'post' })).toEqual({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: 'server/syntax.js:3: syntax error at or near "from"',
  });
});

test('commits a transaction with its result, and undoes it after an error', async ({ app }) => {
  expect((await post(app, 'committed')).json).toEqual([2, 2]);
  expect((await post(app, 'undone')).json).toEqual(['RangeError', 'no', 0]);
  expect((await post(app, 'failed')).text).toBe('25P02');
});

test('uses another connection for queries outside of the transaction', async ({ app }) => {
  expect((await post(app, 'outside')).json).toEqual([0, 1]);
  expect((await post(app, 'transactions')).json).toEqual([2, 2, 2, 2]);
});

test('refuses more than five concurrent transactions', async ({ app }) => {
  expect((await post(app, 'tooMany')).text).toBe('53300');
});

test('does not let handlers wait for each other that have all connections of their owner', async ({ app }) => {
  const ended = await Promise.all([
    post(app, 'crowded', { body: '3', visitorId: 'bob' }),
    post(app, 'crowded', { body: '4', visitorId: 'mia' }),
  ]);
  const results = ended.flatMap(({ json }) => json as string[]);
  expect(results).toHaveLength(7);
  expect(results).toContain('UNAVAILABLE');
});

test('refuses queries of a transaction that has ended', async ({ app }) => {
  expect((await post(app, 'ended')).text).toBe('25P01');
});

test('undoes a transaction that the handler leaves behind', async ({ app }) => {
  expect((await post(app, 'abandoned')).json).toBe(1);
  const open = async () => (await post(app, 'open')).text;
  await expect.poll(open).toBe('0');
  expect((await post(app, 'count', { body: '5' })).json).toEqual([{ count: 0 }]);
});

test('runs any number of queries concurrently', async ({ app }) => {
  expect((await post(app, 'many')).json).toBe(1225);
});
