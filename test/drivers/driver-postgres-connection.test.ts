import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import {
  DATABASE_IDENTITY_SQL,
  isRefusedAddress,
  type DatabaseIdentity,
} from '../../src/adapters/drivers/source-guard.ts';
import { boundQuery, configOf, neverAborted, openSource, useSource } from '../support/postgres-source.ts';
import { rejectionOf, waitUntil } from '../support/uploaded-source.ts';

const source = useSource();

describe('sources that cannot be used', () => {
  test('an unreachable source is named by host and port', async () => {
    const { port } = await findClosedPort();
    await expect(
      openSource(source.database.url, { port }).describe(boundQuery('select 1'), neverAborted),
    ).rejects.toMatchObject({
      status: 500,
      code: 'UPSTREAM_FAILED',
      message: `Cannot connect to postgres at 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
    expect(await openSource(source.database.url, { port }).test(neverAborted)).toMatchObject({
      ok: false,
      version: null,
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  test('a wrong password is reported, without the password', async () => {
    const url = source.database.url.replace(/:[^:@]+@/, ':sesame-open@');
    const error = await openSource(url)
      .describe(boundQuery('select 1'), neverAborted)
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

  test('a message of the server that repeats the password is masked', async () => {
    const server = createServer((socket) =>
      socket
        .once('data', () => {
          // AuthenticationCleartextPassword, then an error that quotes the password.
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
    await expect(
      openSource(source.database.url, { port }).describe(boundQuery('select 1'), neverAborted),
    ).rejects.toMatchObject({
      message: `Cannot connect to postgres at 127.0.0.1:${port}: wrong: ***`,
    });
    server.close();
  });

  test("without a password the service's own is not tried", async () => {
    const { config } = configOf(source.database.url);
    process.env.PGPASSWORD = configOf(source.database.url).secrets.password;
    try {
      await expect(
        createDrivers({ ownDatabase: null })
          .driverOf('postgres')
          .connect(config, {}, null)
          .describe(boundQuery('select 1'), neverAborted),
      ).rejects.toMatchObject({
        status: 500,
        message: expect.stringContaining('password must be a non-empty string') as string,
      });
    } finally {
      delete process.env.PGPASSWORD;
    }
  });

  test('a required encryption is not dropped', async () => {
    await expect(
      openSource(source.database.url, { ssl: 'require' }).describe(boundQuery('select 1'), neverAborted),
    ).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('The server does not support SSL connections') as string,
    });
  });

  test('a source that ends while it sends is an upstream failure', async () => {
    const outcome = rejectionOf(
      source.load(boundQuery('select i, pg_sleep(0.001) from generate_series(1, 1000000) as g(i)')),
    );
    await waitUntil(async () => (await source.busy()).some((query) => query.startsWith('COPY')));
    await source.sql(
      `select pg_terminate_backend(pid)
      from pg_stat_activity
      where application_name = 'data-workspace-service' and datname = current_database()`,
    );
    expect(await outcome).toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
  });

  test("the service's own database is refused, others of its cluster are not", async () => {
    const [own] = (await source.sql(DATABASE_IDENTITY_SQL)) as unknown as DatabaseIdentity[];
    await expect(
      openSource(source.database.url, {}, own!).describe(boundQuery('select 1'), neverAborted),
    ).rejects.toMatchObject({
      status: 400,
      message: 'This is the database of the service itself; it cannot be a datasource',
    });
    expect(await openSource(source.database.url, {}, own!).test(neverAborted)).toMatchObject({ ok: false });
    expect(await openSource(source.database.url, { database: 'postgres' }, own!).test(neverAborted)).toMatchObject({
      ok: true,
    });
  });

  test.each([
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::6464:64c8',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b:1:a9fe:a9:fe00::',
    '64:ff9b:1:0:a9:fea9:fe00:0',
    '2002:a9fe:a9fe::',
    '2001:0:4136:e378:8000:63bf:5601:5601',
    '::ffff:0:a9fe:a9fe',
    '::a9fe:a9fe',
    '100.100.100.200',
  ])('%s is refused as the address of a datasource', async (host) => {
    expect(isRefusedAddress(host)).toBe(true);
    await expect(
      openSource(source.database.url, { host }).describe(boundQuery('select 1'), neverAborted),
    ).rejects.toMatchObject({
      status: 400,
      message: `The host "${host}" is at ${host}, an address that no datasource may have`,
    });
  });

  test.each(['2852039166', '0xa9fea9fe', '0251.0376.0251.0376'])(
    '%s is refused: a metadata address in another notation',
    async (host) => {
      await expect(
        openSource(source.database.url, { host }).describe(boundQuery('select 1'), neverAborted),
      ).rejects.toMatchObject({
        status: 400,
        message: `The host "${host}" is at 169.254.169.254, an address that no datasource may have`,
      });
    },
  );

  test.each(['10.0.0.1', '192.168.1.1', '127.0.0.1', '::1', 'fd00::1'])('%s is not refused', (host) =>
    expect(isRefusedAddress(host)).toBe(false),
  );

  test.each([
    [{ host: '/var/run/postgresql' }, 'config/host must match pattern'],
    [{ port: 0 }, 'config/port must be >= 1'],
    [{ ssl: 'maybe' }, 'config/ssl must be equal to one of the allowed values'],
    [{ sslmode: 'disable' }, 'config must NOT have additional properties'],
    [{ user: undefined }, `config must have required property 'user'`],
  ])('the config %j is refused', (change, message) => {
    expect(() => openSource(source.database.url, change)).toThrow(message);
  });

  test('an unknown type is named', () => {
    expect(() => createDrivers({ ownDatabase: null }).driverOf('oracle')).toThrow(
      'There is no datasource type "oracle"; known are postgres',
    );
  });
});

/** Returns the address of a port that nothing listens on. */
async function findClosedPort(): Promise<AddressInfo> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  server.close();
  return address;
}
