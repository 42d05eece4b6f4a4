import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, boundParameter, neverAborted } from '../support/postgres-source.ts';
import { rejectionOf, waitUntil } from '../support/uploaded-source.ts';
import {
  columnDefinition,
  flood,
  greetingOf,
  packetOf,
  respondToQuery,
  withServer,
} from './driver-mysql-fake-server.ts';

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB: connections', () => {
  const source = useMysqlSource();
  const load = (text: string) => source.load(boundQuery(text, [boundParameter('a', 'x')]));

  describe('sources that cannot be used', () => {
    test('an unreachable source is named by host and port', async () => {
      const port = await withServer(
        () => {},
        async (unusedPort) => unusedPort,
      );
      await expect(source.open({ port }).describe(boundQuery('select 1'), neverAborted)).rejects.toMatchObject({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message: `Cannot connect to mysql at 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
      });
      expect(await source.open({ port }).test(neverAborted)).toMatchObject({
        ok: false,
        version: null,
        message: expect.stringContaining('ECONNREFUSED') as string,
      });
    });

    test('a wrong password is reported, without the password', async () => {
      const error = await rejectionOf(
        source.open({}, { password: 'sesame-open' }).describe(boundQuery('select 1'), neverAborted),
      );
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
      await expect(
        source.open({ database: 'nowhere' }).describe(boundQuery('select 1'), neverAborted),
      ).rejects.toMatchObject({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message: expect.stringContaining(`Unknown database 'nowhere'`) as string,
      });
    });

    test('a required encryption is not dropped', async () => {
      await withServer(
        (socket) => {
          socket.write(greetingOf('8.0.36'));
        },
        async (port) => {
          await expect(
            source.open({ port, ssl: 'require' }).describe(boundQuery('select 1'), neverAborted),
          ).rejects.toMatchObject({
            status: 500,
            message: expect.stringContaining('Server does not support secure connection') as string,
          });
        },
      );
    });

    test('a source that ends while it sends is an upstream failure, not a short result', async () => {
      const outcome = rejectionOf(load(`select seq, sleep(0.001) from seq_1_to_1000000`));
      await waitUntil(async () => (await source.busy()).some((query) => query.startsWith('select')));
      const [session] = await source.sql(
        `select id
        from information_schema.processlist
        where db = '${source.database}' and id <> connection_id()`,
      );
      await source.sql(`kill ${String(session!.id)}`);
      expect(await outcome).toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
    });

    test('a network that breaks between two rows is an upstream failure', async () => {
      await withServer(
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
          const error = await rejectionOf(
            (async () => {
              for await (const { path } of source
                .open({ port })
                .segments(boundQuery('select seq from seq_1_to_10000000'), source.dir, neverAborted))
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
      '%s is refused as the address of a datasource',
      async (host) => {
        await expect(source.open({ host }).describe(boundQuery('select 1'), neverAborted)).rejects.toMatchObject({
          status: 400,
          message: `The host "${host}" is at ${host}, an address that no datasource may have`,
        });
      },
    );

    test('a metadata address in another notation is refused', async () => {
      await expect(
        source.open({ host: '0xa9fea9fe' }).describe(boundQuery('select 1'), neverAborted),
      ).rejects.toMatchObject({
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

  describe('malicious servers', () => {
    const describeAt = (port: number, timeout = 20_000) =>
      source.open({ port }, { password: 'sesame-open' }).describe(boundQuery('select 1', [], timeout), neverAborted);

    test('a server that requests a file gets none', async () => {
      const sent: Buffer[] = [];
      await withServer(
        respondToQuery((socket) => {
          socket.write(packetOf(1, Buffer.from('\xfb/etc/passwd', 'latin1')));
        }, sent),
        async (port) => {
          await expect(describeAt(port, 1000)).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
        },
      );
      expect(Buffer.concat(sent).toString('latin1')).not.toContain('root:');
      // CLIENT_LOCAL_FILES is bit 7 of the capabilities at the start of the client's first packet.
      expect(sent[0]!.readUInt32LE(4) & 0x80).toBe(0);
      // CLIENT_MULTI_STATEMENTS is bit 16.
      expect(sent[0]!.readUInt32LE(4) & 0x10000).toBe(0);
    });

    test('a server that requests the password in clear text does not get it', async () => {
      const sent: Buffer[] = [];
      await withServer(
        (socket) => {
          socket.write(greetingOf('8.0.36'));
          socket.on('data', (chunk) => sent.push(chunk));
          socket.once('data', () => socket.write(packetOf(2, Buffer.from('\xfemysql_clear_password\0', 'latin1'))));
        },
        async (port) => {
          await expect(describeAt(port)).rejects.toMatchObject({
            status: 500,
            message: expect.stringContaining('Cannot connect to mysql') as string,
          });
        },
      );
      expect(Buffer.concat(sent).toString('latin1')).not.toContain('sesame-open');
    });

    test('a message that repeats the password is masked', async () => {
      await withServer(
        respondToQuery((socket) => {
          socket.write(packetOf(1, Buffer.from('\xff\x15\x04#28000wrong: sesame-open', 'latin1')));
        }),
        async (port) => {
          await expect(describeAt(port)).rejects.toMatchObject({
            message: `Cannot connect to mysql at 127.0.0.1:${port}: wrong: ***`,
          });
        },
      );
    });

    test.each([
      [
        'nonsense',
        (socket: Socket) => {
          socket.write(packetOf(1, Buffer.alloc(3, 0xfd)));
        },
      ],
      [
        'a truncated response',
        (socket: Socket) => {
          socket.end(packetOf(1, Buffer.from([1])));
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
          socket.write(packetOf(1, Buffer.from([0xfd, 0xff, 0xff, 0xff])));
          flood(
            socket,
            Buffer.concat(Array.from({ length: 10_000 }, () => packetOf(2, columnDefinition('x'.repeat(200))))),
          );
        },
      ],
    ])('%s ends only the connection', async (_, respond) => {
      const before = process.memoryUsage.rss();
      await withServer(respondToQuery(respond), async (port) => {
        await expect(describeAt(port, 3000)).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
      });
      expect(process.memoryUsage.rss() - before).toBeLessThan(400 * 1024 * 1024);
    });

    test('a server that is too old is refused with its version', async () => {
      const version = columnDefinition('version');
      const row = Buffer.concat([Buffer.from([6]), Buffer.from('5.7.44'), Buffer.from([1]), Buffer.from('7')]);
      const eof = Buffer.from([0xfe, 0, 0, 2, 0]);
      await withServer(
        respondToQuery((socket) => {
          socket.write(
            Buffer.concat([Buffer.from([2]), version, version, eof, row, eof].map((body, i) => packetOf(i + 1, body))),
          );
        }),
        async (port) => {
          await expect(describeAt(port)).rejects.toMatchObject({
            status: 500,
            message: 'MySQL 5.7.44 is too old; MySQL 8.0 is the oldest that can be a source',
          });
        },
      );
    });
  });
});
