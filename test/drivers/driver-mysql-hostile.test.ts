import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { ask, bound, never } from '../support/postgres-source.ts';

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

/** A TCP server on loopback for as long as `work` takes. */
async function serving<T>(take: (socket: Socket) => void, work: (port: number) => Promise<T>): Promise<T> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket.on('error', () => {}));
    take(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work((server.address() as AddressInfo).port);
  } finally {
    for (const socket of open) socket.destroy();
    server.close();
  }
}

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB under attack', () => {
  const source = useMysqlSource();
  const load = (text: string) => source.load(ask(text, [bound('a', 'x')]));

  describe('a query only reads, and is one statement, even for an administrator', () => {
    const marker = `/tmp/dws-marker-${randomUUID()}`;
    const outfile = `select 1 into outfile '${marker}'`;

    test.each([
      outfile,
      `${outfile} -- `,
      `select i from t into outfile '${marker}'`,
      `select i into dumpfile '${marker}' from t`,
      `(${outfile})`,
      `select 1 union ${outfile}`,
      `select 1 /*! into outfile '${marker}' */`,
      `select 1 /*M! into outfile '${marker}' */`,
      `select 1 /*!50000 into outfile '${marker}' */ `,
      `select 1 into @x`,
      `select 1 into x`,
      `select 1) select 2 into outfile '${marker}' -- `,
      `select 1\n) select * from dws_query into outfile '${marker}' -- `,
      `select 1) , b as (select 2`,
      `select 1 /*! ) select 2 into outfile '${marker}' -- */`,
      `select 1; ${outfile}`,
      `select 1;; drop table t; -- `,
      'select 1 /*! ; drop table t */',
      `select 1 /* ; drop table t`,
      `select "a"; drop table t; -- "`,
      'select `a; drop table t; -- `',
      `select '{{a}}; drop table t'`,
      `select {{a}} -- {{a}}\n; drop table t`,
      'select ?',
      'select {{a}}, ?',
      'select {{a}} /*! , ? */',
      '',
      ' ',
      '-- nothing',
      '# nothing',
      ';',
      'select 1 from',
      'select (1',
      'select 1)',
      'insert into t values (2)',
      'insert into t values (2) returning i',
      'replace into t values (2)',
      'update t set i = 3',
      'delete from t returning i',
      'truncate t',
      'drop table t',
      'create table u (i int)',
      'create table u as select 1',
      'create or replace view u as select 1',
      'alter table t add j int',
      'rename table t to u',
      'select i from t for update',
      `select nextval(s)`,
      `select setval(s, 9)`,
      'select next value for s',
      'begin',
      'commit',
      'rollback',
      'start transaction read write',
      'set @x = 1',
      'set global max_connections = 1',
      'set statement max_statement_time = 0 for select 1',
      'set session transaction read write',
      'show tables',
      'show grants',
      'describe t',
      'explain select 1',
      'analyze select 1',
      'explain delete from t',
      'call x()',
      'do sleep(0)',
      'handler t open',
      'kill 1',
      'shutdown',
      'flush tables',
      'reset query cache',
      'optimize table t',
      'lock tables t write',
      'prepare p from "select 1"',
      'execute p',
      `execute immediate 'drop table t'`,
      `load data infile '/etc/passwd' into table t`,
      `load data local infile '/etc/passwd' into table t`,
      'grant all on *.* to root@localhost',
      'create user x',
      'install plugin x soname "x"',
      'use mysql',
      'select 1 procedure analyse()',
      'begin not atomic drop table t; end',
      'xa start "x"',
      'help "x"',
      'values (1) into outfile "x"',
    ])('%j is refused', async (text) => {
      await source.sql(
        'drop table if exists t, u; drop sequence if exists s; create table t as select 1 as i; create sequence s',
      );
      await expect(load(text)).rejects.toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
      await expect(source.query(text, [bound('a', 'x')])).rejects.toMatchObject({
        status: 400,
        code: 'BAD_USER_INPUT',
      });
      expect(await source.sql('select i, (select next_not_cached_value from s) as next from t')).toEqual([
        { i: 1, next: 1 },
      ]);
      expect((await source.sql('show tables')).length).toBe(2);
      expect(existsSync(marker)).toBe(false);
    });

    test('describing does not run anything', async () => {
      const fails = 'select (select 1 union select 2) as never';
      expect(await source.connection.describe(ask(fails), never)).toMatchObject([{ name: 'never', type: 'integer' }]);
      await expect(load(fails)).rejects.toMatchObject({ status: 400, message: 'Subquery returns more than 1 row' });
    });

    test('what a function would write is not written', async () => {
      await source.sql(
        'create or replace table kept (i int); drop function if exists writes; create function writes() returns int begin insert into kept values (1); return 1; end',
      );
      await expect(load('select writes()')).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('READ ONLY') as string,
      });
      expect(await source.sql('select * from kept')).toEqual([]);
    });

    test('what a query sets is gone with its session', async () => {
      expect((await load('select @left := 5, get_lock("dws_test", 0)')).rows).toEqual([['5', '1']]);
      expect((await load('select @left, is_free_lock("dws_test")')).rows).toEqual([[null, '1']]);
    });

    test('what merely looks like an attack is data', async () => {
      expect((await load(`select ');--' as a, "x' into outfile '" as \`c)--\` /* ) -- */ -- )`)).rows).toEqual([
        [');--', `x' into outfile '`],
      ]);
      expect((await load(`select 'a\\'; drop table t; -- ' -- \r; drop table t`)).rows).toEqual([
        [`a'; drop table t; -- `],
      ]);
    });

    test("the SQL is read alike whatever the server's mode is", async () => {
      const [before] = await source.sql('select @@global.sql_mode as mode');
      await source.sql(`set global sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'`);
      try {
        expect((await load(`select "a\\"b", 'c\\'d', 0 || 1`)).rows).toEqual([['a"b', `c'd`, '1']]);
      } finally {
        await source.sql(`set global sql_mode = '${String(before!.mode)}'`);
      }
    });

    test("a complaint is the source's, with its line", async () => {
      await expect(source.query('select 1,\n  relnam\nfrom t')).rejects.toMatchObject({
        status: 400,
        message: `Unknown column 'relnam' in 'SELECT'`,
      });
      await expect(source.query('select 1\nfrm t')).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('at line 2') as string,
      });
    });
  });

  describe('stopping', () => {
    const endless = `select a.seq, repeat(md5(a.seq), 10) as filling from seq_1_to_1000000 a, seq_1_to_1000000 b`;
    const quiet = 'select count(*) from seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq + b.seq < 0';
    const idle = async () => (await source.busy()).length === 0;

    test.each([
      ['that sends rows', endless],
      ['that computes in silence', quiet],
    ])('aborting a load %s ends it in the source and leaves no file', async (_, text) => {
      const stop = new AbortController();
      const outcome = failure(
        (async () => {
          for await (const { path } of source.connection.segments(ask(text), source.dir, stop.signal)) await rm(path);
        })(),
      );
      await until(async () => (await source.busy()).some((query) => query.startsWith('select')));
      if (text === endless) await sleep(300);
      stop.abort();
      expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
      await until(idle);
      expect(await readdir(source.dir)).toEqual([]);
    });

    test('aborting a load whose source waits for us to read ends it too', async () => {
      const stop = new AbortController();
      const segments = source.connection.segments(ask(endless), source.dir, stop.signal)[Symbol.asyncIterator]();
      await rm((await segments.next()).value.path as string);
      await until(
        async () =>
          (
            await source.sql(
              `select state from information_schema.processlist where db = '${source.database}' and state in ('Writing to net', 'Sending data')`,
            )
          ).length === 1,
      );
      await sleep(200);
      stop.abort();
      await until(idle);
      await expect(segments.next()).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await readdir(source.dir)).toEqual([]);
    });

    test('a reader that leaves ends the load', async () => {
      for await (const segment of source.connection.segments(ask(endless), source.dir, never)) {
        expect(segment.rows).toBeGreaterThan(1);
        await rm(segment.path);
        break;
      }
      await until(idle);
      expect(await readdir(source.dir)).toEqual([]);
    });

    test('closing the connection ends what runs', async () => {
      const connection = source.open();
      const outcome = failure(connection.query(ask(quiet), 10, never));
      await until(async () => (await source.busy()).some((query) => query.startsWith('select')));
      await connection.close();
      expect(await outcome).toMatchObject({ code: 'CANCELLED' });
      await until(idle);
    });

    test('a cut answer runs no longer', async () => {
      expect(await source.query(`${endless} limit 900000000`, [], 2)).toMatchObject({ truncated: true });
      await until(idle);
    });

    test.each(['query', 'load'])('a %s past its time fails as a query timeout and runs no longer', async (kind) => {
      const query = ask(quiet, [], 300);
      const running = kind === 'query' ? source.connection.query(query, 10, never) : source.load(query);
      await expect(running).rejects.toMatchObject({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message: 'query timeout after 300 ms',
      });
      await until(idle);
    });

    test('the source itself gives up, should we be gone, and bears with a slow reader until then', async () => {
      expect(
        (
          await source.query(
            'select @@max_statement_time as time, @@net_write_timeout as patience, @@tx_read_only as ro, @@time_zone as zone',
          )
        ).rows,
      ).toEqual([{ time: 20, patience: 20, ro: 1, zone: '+00:00' }]);
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
        ask(`select seq, repeat('x', 300) from seq_1_to_300000`),
        source.dir,
        never,
      )) {
        await sleep(100);
        most = Math.max(most, (await readdir(source.dir)).length);
        rows += segment.rows;
        expect(segment.bytes).toBeLessThan(9 * 1024 * 1024);
        expect(segment.longestRow).toBeGreaterThan(300);
        await rm(segment.path);
      }
      expect(rows).toBe(300_000);
      // The one being read and the two that wait.
      expect(most).toBeLessThanOrEqual(3);
      expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
    });

    test('a million rows arrive whole and in order, whatever the network and the segments cut', async () => {
      let next = 1;
      for await (const segment of source.connection.segments(
        ask(`select seq, concat('row ', seq) as name from seq_1_to_1000000`),
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

    test('a row larger than a packet and a segment stays whole, quotes and all', async () => {
      const { rows, segments } = await source.load(
        ask(`select repeat('ü', 5000000) as v, repeat('"', 7000000) as w union all select 'next', ''`),
      );
      expect(rows.map((row) => row.map((value) => value!.length))).toEqual([
        [5_000_000, 7_000_000],
        [4, 0],
      ]);
      expect(segments).toMatchObject([{ rows: 1, bytes: 24_000_006, longestRow: 24_000_006 }, { rows: 1 }]);
    });

    test('rows of 16 MB stream in constant memory', async () => {
      const before = process.memoryUsage.rss();
      let rows = 0;
      for await (const segment of source.connection.segments(
        ask(`select repeat('x', 16000000) as v from seq_1_to_30`),
        source.dir,
        never,
      )) {
        rows += segment.rows;
        await rm(segment.path);
      }
      expect(rows).toBe(30);
      expect(process.memoryUsage.rss() - before).toBeLessThan(350 * 1024 * 1024);
    });

    test("an error in the middle of the rows is the source's complaint, not a short answer", async () => {
      await expect(
        load(`select if(seq = 500000, (select 1 union select 2), seq) from seq_1_to_1000000`),
      ).rejects.toMatchObject({ status: 400, message: 'Subquery returns more than 1 row' });
      expect(await readdir(source.dir)).toEqual([]);
    });
  });

  describe('sources that cannot be used', () => {
    test('an unreachable one is named by host and port', async () => {
      const port = await serving(
        () => {},
        async (free) => free,
      );
      await expect(source.open({ port }).describe(ask('select 1'), never)).rejects.toMatchObject({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message: `Cannot connect to mysql at 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
      });
      expect(await source.open({ port }).test(never)).toMatchObject({
        ok: false,
        version: null,
        message: expect.stringContaining('ECONNREFUSED') as string,
      });
    });

    test('a wrong password is named as such, without the password', async () => {
      const error = await failure(source.open({}, { password: 'sesame-open' }).describe(ask('select 1'), never));
      expect(error).toMatchObject({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message: expect.stringMatching(
          /^Cannot connect to mysql at 127\.0\.0\.1:\d+: Access denied for user/,
        ) as string,
      });
      expect(JSON.stringify([error, (error as Error).message, (error as Error).stack])).not.toContain('sesame-open');
    });

    test('an unknown database is named', async () => {
      await expect(source.open({ database: 'nowhere' }).describe(ask('select 1'), never)).rejects.toMatchObject({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message: expect.stringContaining(`Unknown database 'nowhere'`) as string,
      });
    });

    test('encryption that was asked for is not given up', async () => {
      await serving(
        (socket) => {
          socket.write(greeting('8.0.36'));
        },
        async (port) => {
          await expect(source.open({ port, ssl: 'require' }).describe(ask('select 1'), never)).rejects.toMatchObject({
            status: 500,
            message: expect.stringContaining('Server does not support secure connection') as string,
          });
        },
      );
    });

    test('a source that dies while it sends has failed, not complained, and is no short answer', async () => {
      const outcome = failure(load(`select seq, sleep(0.001) from seq_1_to_1000000`));
      await until(async () => (await source.busy()).some((query) => query.startsWith('select')));
      await source.sql(
        `kill ${String((await source.sql(`select id from information_schema.processlist where db = '${source.database}' and id <> connection_id()`))[0]!.id)}`,
      );
      expect(await outcome).toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
    });

    test('so has one whose network breaks between two rows', async () => {
      await serving(
        (socket) => {
          const upstream = connect(source.address.port, '127.0.0.1').on('error', () => {});
          let passed = 0;
          upstream.on('data', (chunk) => {
            passed += chunk.length;
            if (passed < 1_000_000) socket.write(chunk);
            else socket.end();
          });
          socket.pipe(upstream);
        },
        async (port) => {
          const error = await failure(
            (async () => {
              for await (const { path } of source
                .open({ port })
                .segments(ask('select seq from seq_1_to_10000000'), source.dir, never))
                await rm(path);
            })(),
          );
          expect(error).toMatchObject({
            status: 500,
            code: 'UPSTREAM_FAILED',
            message: expect.stringContaining('was lost') as string,
          });
        },
      );
    });

    test.each(['169.254.169.254', 'fe80::1', 'fd00:ec2::254', '::ffff:169.254.169.254', '100.100.100.200'])(
      '%s is no address for a datasource',
      async (host) => {
        await expect(source.open({ host }).describe(ask('select 1'), never)).rejects.toMatchObject({
          status: 400,
          message: `The host "${host}" is at ${host}, an address that no datasource may have`,
        });
      },
    );

    test('nor is a metadata address spelt otherwise', async () => {
      await expect(source.open({ host: '0xa9fea9fe' }).describe(ask('select 1'), never)).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('is at 169.254.169.254') as string,
      });
    });

    test.each([
      [{ host: '/run/mysqld/mysqld.sock' }, 'config/host must match pattern'],
      [{ port: 0 }, 'config/port must be >= 1'],
      [{ ssl: 'maybe' }, 'config/ssl must be equal to one of the allowed values'],
      [{ multipleStatements: true }, 'config must NOT have additional properties'],
      [{ user: undefined }, `config must have required property 'user'`],
    ])('the config %j is refused', (change, message) => {
      expect(() => source.open(change)).toThrow(message);
    });
  });

  describe('servers that mean harm', () => {
    /** A server that accepts every login and responds to the first query with these bytes. */
    const answering =
      (answer: (socket: Socket) => void, sent: Buffer[] = []) =>
      (socket: Socket) => {
        socket.write(greeting('8.0.36'));
        let met = false;
        let asked = false;
        socket.on('data', (chunk) => {
          sent.push(chunk);
          if (!met) socket.write(packet(2, Buffer.from([0, 0, 0, 2, 0, 0, 0])));
          else if (!asked) answer(socket);
          asked ||= met;
          met = true;
        });
      };
    const use = (port: number, timeout = 20_000) =>
      source.open({ port }, { password: 'sesame-open' }).describe(ask('select 1', [], timeout), never);

    test('one that asks for a file gets none', async () => {
      const sent: Buffer[] = [];
      await serving(
        answering((socket) => {
          socket.write(packet(1, Buffer.from('\xfb/etc/passwd', 'latin1')));
        }, sent),
        async (port) => {
          await expect(use(port, 1000)).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
        },
      );
      expect(Buffer.concat(sent).toString('latin1')).not.toContain('root:');
      // CLIENT_LOCAL_FILES is bit 7 of the capabilities that the client's first packet begins with.
      expect(sent[0]!.readUInt32LE(4) & 0x80).toBe(0);
      // CLIENT_MULTI_STATEMENTS is bit 16.
      expect(sent[0]!.readUInt32LE(4) & 0x10000).toBe(0);
    });

    test('one that asks for the password in the clear does not get it', async () => {
      const sent: Buffer[] = [];
      await serving(
        (socket) => {
          socket.write(greeting('8.0.36'));
          socket.on('data', (chunk) => sent.push(chunk));
          socket.once('data', () => socket.write(packet(2, Buffer.from('\xfemysql_clear_password\0', 'latin1'))));
        },
        async (port) => {
          await expect(use(port)).rejects.toMatchObject({
            status: 500,
            message: expect.stringContaining('Cannot connect to mysql') as string,
          });
        },
      );
      expect(Buffer.concat(sent).toString('latin1')).not.toContain('sesame-open');
    });

    test('one that repeats the password is silenced', async () => {
      await serving(
        answering((socket) => {
          socket.write(packet(1, Buffer.from('\xff\x15\x04#28000wrong: sesame-open', 'latin1')));
        }),
        async (port) => {
          await expect(use(port)).rejects.toMatchObject({
            message: `Cannot connect to mysql at 127.0.0.1:${port}: wrong: ***`,
          });
        },
      );
    });

    test.each([
      [
        'nonsense',
        (socket: Socket) => {
          socket.write(packet(1, Buffer.alloc(3, 0xfd)));
        },
      ],
      [
        'an answer cut short',
        (socket: Socket) => {
          socket.end(packet(1, Buffer.from([1])));
        },
      ],
      [
        'a message without end',
        (socket: Socket) => {
          flood(socket, Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 1]), Buffer.alloc(0xffffff)]));
        },
      ],
      [
        'columns without end',
        (socket: Socket) => {
          socket.write(packet(1, Buffer.from([0xfd, 0xff, 0xff, 0xff])));
          flood(socket, Buffer.concat(Array.from({ length: 10_000 }, () => packet(2, column('x'.repeat(200))))));
        },
      ],
    ])('%s ends the connection, and nothing else', async (_, answer) => {
      const before = process.memoryUsage.rss();
      await serving(answering(answer), async (port) => {
        await expect(use(port, 3000)).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
      });
      expect(process.memoryUsage.rss() - before).toBeLessThan(400 * 1024 * 1024);
    });

    test('a server that is too old says so', async () => {
      const version = column('version');
      const row = Buffer.concat([Buffer.from([6]), Buffer.from('5.7.44'), Buffer.from([1]), Buffer.from('7')]);
      const eof = Buffer.from([0xfe, 0, 0, 2, 0]);
      await serving(
        answering((socket) => {
          socket.write(
            Buffer.concat([Buffer.from([2]), version, version, eof, row, eof].map((body, i) => packet(i + 1, body))),
          );
        }),
        async (port) => {
          await expect(use(port)).rejects.toMatchObject({
            status: 500,
            message: 'MySQL 5.7.44 is too old; MySQL 8.0 is the oldest that can be a source',
          });
        },
      );
    });
  });
});

/** A packet of MySQL's protocol. */
function packet(sequence: number, body: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUIntLE(body.length, 0, 3);
  header[3] = sequence;
  return Buffer.concat([header, body]);
}

/** The greeting of a server: no encryption, native passwords. */
function greeting(version: string): Buffer {
  const capabilities = 0x8_a209;
  const body = Buffer.concat([
    Buffer.from([10]),
    Buffer.from(`${version}\0`),
    Buffer.from([7, 0, 0, 0]),
    Buffer.from('12345678\0'),
    Buffer.from([capabilities & 0xff, (capabilities >> 8) & 0xff, 45, 2, 0, (capabilities >> 16) & 0xff, 0, 21]),
    Buffer.alloc(10),
    Buffer.from('123456789012\0'),
    Buffer.from('mysql_native_password\0'),
  ]);
  return packet(0, body);
}

/** The description of a column of text. */
function column(name: string): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  return Buffer.concat([
    text('def'),
    text(''),
    text(''),
    text(''),
    text(name),
    text(''),
    Buffer.from([0x0c, 45, 0, 80, 0, 0, 0, 253, 0, 0, 0, 0, 0]),
  ]);
}

/** Sends the bytes repeatedly, as fast as the socket accepts them, until it is closed. */
function flood(socket: Socket, bytes: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
}
