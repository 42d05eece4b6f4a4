import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import {
  DATABASE_IDENTITY_SQL,
  isRefusedAddress,
  type DatabaseIdentity,
} from '../../src/adapters/drivers/source-guard.ts';
import { ask, bound, configOf, never, open, useSource } from '../support/postgres-source.ts';

const source = useSource();

/** Waits for a condition; the test's own time limit is the only clock. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

/** What a promise fails with, looked at later than it may fail. */
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a query only reads, and is one statement, even for a superuser', () => {
  const marker = `/tmp/dws-marker-${randomUUID()}`;
  const program = `copy (select 1) to program 'touch ${marker}'`;

  test.each([
    program,
    `select 1) to program 'touch ${marker}' --`,
    `select 1) to program 'touch ${marker}' (format csv, null '\\N') /*`,
    `select 1\n) as q(c0)\n) to program 'touch ${marker}' --`,
    `select 1; ${program}`,
    `select 1;; ${program}; --`,
    `select 1 /* ; ${program}`,
    `select 1 -- \r; ${program}) `,
    `select 1 /* /* */ ) to program 'touch ${marker}' /* */ */ ) to program 'touch ${marker}' --`,
    `select $$ ) to program 'touch ${marker}' --`,
    `select E'\\' ) to program ''touch ${marker}'' --`,
    `select "a ) to program 'touch ${marker}' --`,
    `((select 1)) ) to program 'touch ${marker}' --`,
    `select '{{a}}; ${program} --'`,
    `select {{a}} -- {{a}}\n) to program 'touch ${marker}' --`,
    `select $1`,
    `select 1 where false; commit; ${program}`,
    '',
    ' ',
    '-- nothing',
    ';',
    'select 1 from',
    'select (1',
    'select 1)',
    'insert into t values (2)',
    'insert into t values (2) returning i',
    'update t set i = 3',
    'delete from t returning *',
    'truncate t',
    'drop table t',
    'create table u (i int)',
    'with gone as (delete from t returning i) select * from gone',
    'select * into u from t',
    'select * from t for update',
    `select nextval('s')`,
    `select setval('s', 9)`,
    `select set_config('transaction_read_only', 'off', false), nextval('s')`,
    `select lo_create(0)`,
    'begin',
    'commit',
    'rollback; drop table t',
    'set role postgres',
    'show server_version',
    'explain analyze delete from t',
    'call x()',
    `do $$ begin drop table t; end $$`,
    'vacuum',
    'lock table t',
    'listen x',
    `notify x`,
    'prepare p as select 1',
    'execute p',
    'declare c cursor for select 1',
    'copy t to stdout',
    'copy t from stdin',
    'table t; table t',
  ])('%j is refused', async (text) => {
    await source.sql(
      'drop table if exists t, u; drop sequence if exists s; create table t as select 1 as i; create sequence s',
    );
    const query = ask(text, [bound('a', 'x')]);
    await expect(source.load(query)).rejects.toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
    await expect(source.query(text, query.parameters)).rejects.toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
    expect(
      await source.sql(
        `select i, to_regclass('u') as u, (select is_called from s) as called, (select count(*)::int from pg_largeobject_metadata) as objects from t`,
      ),
    ).toEqual([{ i: 1, u: null, called: false, objects: 0 }]);
    expect(existsSync(marker)).toBe(false);
  });

  test('describing does not run anything', async () => {
    expect(await source.connection.describe(ask('select 1 / 0 as never'), never)).toMatchObject([
      { name: 'never', type: 'integer' },
    ]);
  });

  test('what merely looks like an attack is data', async () => {
    expect(
      (await source.load(ask(`select ');--' as a, $x$ ) to program ' $x$ as b, 1 as "c)--" /* ) -- */ -- )`))).rows,
    ).toEqual([[');--', ` ) to program ' `, '1']]);
  });

  test('a complaint of the source names the line and the hint', async () => {
    await expect(source.query('select 1,\n  relnam\nfrom (select 1 as relname) as c')).rejects.toMatchObject({
      status: 400,
      message: 'column "relnam" does not exist (line 2). Hint: Perhaps you meant to reference the column "c.relname".',
    });
    await expect(source.query('select 1 / 0')).rejects.toMatchObject({ status: 400, message: 'division by zero' });
  });
});

describe('stopping', () => {
  // In the select list, generate_series gives its rows as it goes; in FROM it would first collect them all.
  const endless =
    'select i, repeat(md5(i::text), 10) as filling from (select generate_series(1, 1000000000) as i) as g';
  const quiet = 'select count(*) from generate_series(1, 100000000000)';

  test.each([
    ['that sends rows', endless],
    ['that computes in silence', quiet],
  ])('aborting a load %s cancels it in the source and leaves no file', async (_, text) => {
    const stop = new AbortController();
    const reading = (async () => {
      for await (const { path } of source.connection.segments(ask(text), source.dir, stop.signal)) await rm(path);
    })();
    const outcome = failure(reading);
    await until(async () => (await source.busy()).some((query) => query.startsWith('COPY')));
    if (text === endless) await sleep(300);
    stop.abort();
    expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
    await until(async () => (await source.busy()).length === 0);
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('aborting a load whose source waits for us to read cancels it too', async () => {
    const stop = new AbortController();
    const segments = source.connection.segments(ask(endless), source.dir, stop.signal)[Symbol.asyncIterator]();
    await rm((await segments.next()).value.path as string);
    await until(
      async () =>
        (
          await source.sql(
            `select wait_event from pg_stat_activity where wait_event = 'ClientWrite' and datname = current_database()`,
          )
        ).length === 1,
    );
    stop.abort();
    await until(async () => (await source.busy()).length === 0);
    await expect(segments.next()).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('a reader that leaves cancels the load', async () => {
    for await (const segment of source.connection.segments(ask(endless), source.dir, never)) {
      expect(segment.rows).toBeGreaterThan(1);
      await rm(segment.path);
      break;
    }
    await until(async () => (await source.busy()).length === 0);
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('closing the connection cancels what runs', async () => {
    const connection = open(source.database.url);
    const outcome = failure(connection.query(ask(quiet), 10, never));
    await until(async () => (await source.busy()).some((query) => query.startsWith('select')));
    await connection.close();
    expect(await outcome).toMatchObject({ code: 'CANCELLED' });
    await until(async () => (await source.busy()).length === 0);
  });

  test.each(['query', 'load'])('a %s past its time fails as a query timeout and runs no longer', async (kind) => {
    const query = ask(quiet, [], 300);
    const running = kind === 'query' ? source.connection.query(query, 10, never) : source.load(query);
    await expect(running).rejects.toMatchObject({
      status: 500,
      code: 'UPSTREAM_FAILED',
      message: 'query timeout after 300 ms',
    });
    await until(async () => (await source.busy()).length === 0);
  });

  test('the source itself gives up, should we be gone', async () => {
    const result = await source.query(`select current_setting('statement_timeout') as limit`);
    expect(result.rows).toEqual([{ limit: '20s' }]);
  });

  test('an aborted signal opens no connection', async () => {
    await expect(source.connection.query(ask('select 1'), 10, AbortSignal.abort())).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  });
});

describe('large answers', () => {
  test('a slow reader finds at most two segments waiting, and memory does not grow', async () => {
    const before = process.memoryUsage.rss();
    let most = 0;
    let rows = 0;
    for await (const segment of source.connection.segments(
      ask(`select i, repeat('x', 1000) from (select generate_series(1, 100000) as i) as g`),
      source.dir,
      never,
    )) {
      await sleep(100);
      most = Math.max(most, (await readdir(source.dir)).length);
      rows += segment.rows;
      expect(segment.bytes).toBeLessThan(9 * 1024 * 1024);
      expect(segment.longestRow).toBeGreaterThan(1000);
      await rm(segment.path);
    }
    expect(rows).toBe(100_000);
    // The one being read and the two that wait.
    expect(most).toBe(3);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('a million rows arrive whole and in order, whatever the network and the segments cut', async () => {
    let next = 1;
    for await (const segment of source.connection.segments(
      ask(`select i, 'row ' || i as name from generate_series(1, 1000000) as g(i)`),
      source.dir,
      never,
    )) {
      const lines = (await readFile(segment.path, 'utf8')).split('\n');
      expect(lines.pop()).toBe('');
      expect(segment.rows).toBe(lines.length);
      expect(segment.longestRow).toBe(lines.reduce((longest, line) => Math.max(longest, line.length + 1), 0));
      const wrong = lines.find((line) => line !== `${next},row ${next++}`);
      expect(wrong).toBeUndefined();
      await rm(segment.path);
    }
    expect(next).toBe(1_000_001);
  });

  test('a row larger than a segment stays whole, quotes and all', async () => {
    const { rows, segments } = await source.load(ask(`select repeat('ü', 10000000) as v union all select 'next'`));
    expect(rows.map(([value]) => value!.length)).toEqual([10_000_000, 4]);
    expect(segments).toMatchObject([{ rows: 1, bytes: 20_000_003, longestRow: 20_000_003 }, { rows: 1 }]);
  });

  test("an error in the middle of the rows is the source's complaint", async () => {
    await expect(
      source.load(ask('select 1 / (500000 - i) from generate_series(1, 1000000) as g(i)')),
    ).rejects.toMatchObject({ status: 400, message: 'division by zero' });
  });
});

describe('sources that cannot be used', () => {
  test('an unreachable one is named by host and port', async () => {
    const { port } = await closedPort();
    await expect(open(source.database.url, { port }).describe(ask('select 1'), never)).rejects.toMatchObject({
      status: 500,
      code: 'UPSTREAM_FAILED',
      message: `Cannot connect to postgres at 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
    expect(await open(source.database.url, { port }).test(never)).toMatchObject({
      ok: false,
      version: null,
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  test('a wrong password is named as such, without the password', async () => {
    const url = source.database.url.replace(/:[^:@]+@/, ':sesame-open@');
    const error = await open(url)
      .describe(ask('select 1'), never)
      .catch((thrown: Error) => thrown);
    expect(error).toMatchObject({
      status: 500,
      code: 'UPSTREAM_FAILED',
      message: expect.stringMatching(
        /^Cannot connect to postgres at 127\.0\.0\.1:\d+: password authentication failed/,
      ) as string,
    });
    expect(JSON.stringify([error, (error as Error).message, (error as Error).stack])).not.toContain('sesame-open');
  });

  test('a server that repeats the password is silenced', async () => {
    const server = createServer((socket) =>
      socket
        .once('data', () => {
          // AuthenticationCleartextPassword, then an error that quotes what came.
          socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
          socket.once('data', (sent) => {
            const body = Buffer.from(`SFATAL\0C28P01\0Mwrong: ${sent.subarray(5, -1).toString()}\0\0`);
            const header = Buffer.alloc(5);
            header.write('E');
            header.writeInt32BE(body.length + 4, 1);
            socket.end(Buffer.concat([header, body]));
          });
        })
        .on('error', () => {}),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await expect(open(source.database.url, { port }).describe(ask('select 1'), never)).rejects.toMatchObject({
      message: `Cannot connect to postgres at 127.0.0.1:${port}: wrong: ***`,
    });
    server.close();
  });

  test("without a password none of the service's own is tried", async () => {
    const { config } = configOf(source.database.url);
    process.env.PGPASSWORD = configOf(source.database.url).secrets.password;
    try {
      await expect(
        createDrivers({ ownDatabase: null })
          .driverOf('postgres')
          .connect(config, {}, null)
          .describe(ask('select 1'), never),
      ).rejects.toMatchObject({
        status: 500,
        message: expect.stringContaining('password must be a non-empty string') as string,
      });
    } finally {
      delete process.env.PGPASSWORD;
    }
  });

  test('encryption that was asked for is not given up', async () => {
    await expect(open(source.database.url, { ssl: 'require' }).describe(ask('select 1'), never)).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('The server does not support SSL connections') as string,
    });
  });

  test('a source that dies while it sends has failed, not complained', async () => {
    const outcome = failure(source.load(ask('select i, pg_sleep(0.001) from generate_series(1, 1000000) as g(i)')));
    await until(async () => (await source.busy()).some((query) => query.startsWith('COPY')));
    await source.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'data-workspace-service' and datname = current_database()`,
    );
    expect(await outcome).toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
  });

  test("the service's own database is refused, others of its cluster are not", async () => {
    const [own] = (await source.sql(DATABASE_IDENTITY_SQL)) as unknown as DatabaseIdentity[];
    await expect(open(source.database.url, {}, own!).describe(ask('select 1'), never)).rejects.toMatchObject({
      status: 400,
      message: 'This is the database of the service itself; it cannot be a datasource',
    });
    expect(await open(source.database.url, {}, own!).test(never)).toMatchObject({ ok: false });
    expect(await open(source.database.url, { database: 'postgres' }, own!).test(never)).toMatchObject({ ok: true });
  });

  test.each([
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '100.100.100.200',
  ])('%s is no address for a datasource', async (host) => {
    expect(isRefusedAddress(host)).toBe(true);
    await expect(open(source.database.url, { host }).describe(ask('select 1'), never)).rejects.toMatchObject({
      status: 400,
      message: `The host "${host}" is at ${host}, an address that no datasource may have`,
    });
  });

  test.each(['2852039166', '0xa9fea9fe', '0251.0376.0251.0376'])(
    'nor is %s, a metadata address spelt otherwise',
    async (host) => {
      await expect(open(source.database.url, { host }).describe(ask('select 1'), never)).rejects.toMatchObject({
        status: 400,
        message: `The host "${host}" is at 169.254.169.254, an address that no datasource may have`,
      });
    },
  );

  test.each(['10.0.0.1', '192.168.1.1', '127.0.0.1', '::1', 'fd00::1'])('%s is', (host) =>
    expect(isRefusedAddress(host)).toBe(false),
  );

  test.each([
    [{ host: '/var/run/postgresql' }, 'config/host must match pattern'],
    [{ port: 0 }, 'config/port must be >= 1'],
    [{ ssl: 'maybe' }, 'config/ssl must be equal to one of the allowed values'],
    [{ sslmode: 'disable' }, 'config must NOT have additional properties'],
    [{ user: undefined }, `config must have required property 'user'`],
  ])('the config %j is refused', (change, message) => {
    expect(() => open(source.database.url, change)).toThrow(message);
  });

  test('an unknown type is named', () => {
    expect(() => createDrivers({ ownDatabase: null }).driverOf('oracle')).toThrow(
      'There is no datasource type "oracle"; known are postgres',
    );
  });
});

async function closedPort(): Promise<AddressInfo> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  server.close();
  return address;
}
