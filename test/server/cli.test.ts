import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import { runningEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { VERSION } from '../../src/server/package-root.ts';
import { Client } from '../support/client.ts';
import { dws, variablesOf } from '../support/command.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, type Service } from '../support/service.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const logIn = async (service: Service, username: string, password: string, tenant = 'default') =>
  new Client(service.url).post('/login', { username, password, tenant });

test('a tenant is created once, and listed with the number of its users', async ({ service }) => {
  expect(await dws(variablesOf(service), 'tenant', 'create', 'acme')).toEqual({
    out: ['Created tenant "acme".'],
    err: [],
    code: 0,
  });
  expect(await dws(variablesOf(service), 'user', 'create', 'eve', '--tenant', 'acme', '--password', PASSWORD)).toEqual({
    out: ['Created user "eve" of tenant "acme".'],
    err: [],
    code: 0,
  });
  expect((await dws(variablesOf(service), 'tenant', 'list')).out).toContain('acme\t1 user');
  expect(await dws(variablesOf(service), 'tenant', 'create', 'acme')).toEqual({
    out: [],
    err: ['There already is a tenant "acme"'],
    code: 1,
  });
});

test('a created user can log in, in that tenant only', async ({ service }) => {
  await dws(variablesOf(service), 'user', 'create', 'Root', '--tenant', 'other', '--password', PASSWORD, '--superuser');

  expect(await logIn(service, 'root', PASSWORD, 'other')).toMatchObject({
    status: 200,
    body: { user: { username: 'Root', superuser: true } },
  });
  expect(await logIn(service, 'root', PASSWORD)).toMatchObject({ status: 401 });
});

test('a short password, an unknown tenant and an unknown user are errors of one line', async ({ service }) => {
  expect(await dws(variablesOf(service), 'user', 'create', 'x', '--tenant', 'default', '--password', 'short')).toEqual({
    out: [],
    err: ['password must have at least 12 characters'],
    code: 1,
  });
  expect(await dws(variablesOf(service), 'user', 'create', 'x', '--tenant', 'nowhere', '--password', PASSWORD)).toEqual(
    { out: [], err: ['There is no tenant "nowhere"'], code: 1 },
  );
  for (const command of [
    ['user', 'list'],
    ['user', 'unlock', 'ann'],
    ['token', 'list'],
    ['token', 'create', 'ann'],
  ])
    expect(await dws(variablesOf(service), ...command, '--tenant', 'nowhere'), command.join(' ')).toEqual({
      out: [],
      err: ['There is no tenant "nowhere"'],
      code: 1,
    });
  await service.user('twin');
  expect(await dws(variablesOf(service), 'user', 'create', 'Twin', '--password', PASSWORD)).toEqual({
    out: [],
    err: ['Tenant "default" already has a user "Twin"'],
    code: 1,
  });
  expect(await dws(variablesOf(service), 'user', 'unlock', 'nobody')).toEqual({
    out: [],
    err: ['There is no user of tenant "default" named "nobody"'],
    code: 1,
  });
});

test('a password reset prints a new password, invalidates the old one and ends all sessions', async ({ service }) => {
  await service.user('forgetful');
  const { headers } = await logIn(service, 'forgetful', PASSWORD);
  const session = new Client(service.url, { cookie: headers.get('set-cookie')!.split(';')[0]! });
  expect(await session.get('/session')).toMatchObject({ status: 200 });

  const {
    out: [password],
    code,
  } = await dws(variablesOf(service), 'user', 'reset-password', 'Forgetful');
  expect(code).toBe(0);
  expect(await logIn(service, 'forgetful', password!)).toMatchObject({ status: 200 });
  expect(await logIn(service, 'forgetful', PASSWORD)).toMatchObject({ status: 401 });
  await expect.poll(async () => (await session.get('/session')).status).toBe(401);
});

test('an unlocked user can log in', async ({ service }) => {
  await service.user('locked');
  await runSql(
    service.databaseUrl,
    `update dws.app_user set locked_at = now(), login_attempts = 10 where username = 'locked'`,
  );
  expect(await logIn(service, 'locked', PASSWORD)).toMatchObject({ status: 401 });

  expect(await dws(variablesOf(service), 'user', 'unlock', 'locked')).toMatchObject({ code: 0 });
  expect(await logIn(service, 'locked', PASSWORD)).toMatchObject({ status: 200 });
});

test('an administrator’s lock is lifted by unlocking only, not by a new password', async ({ service, admin }) => {
  await service.user('barred');
  await admin.put('/users/barred', { locked: true });
  const { out } = await dws(variablesOf(service), 'user', 'list');
  expect(out).toContain('barred\tuser\tlocked');
  expect(await dws(variablesOf(service), 'token', 'create', 'barred')).toMatchObject({
    err: ['The user "barred" is locked'],
    code: 1,
  });
  const [password] = (await dws(variablesOf(service), 'user', 'reset-password', 'barred')).out;
  expect(await logIn(service, 'barred', password!)).toMatchObject({ status: 401 });

  expect(await dws(variablesOf(service), 'user', 'unlock', 'barred')).toMatchObject({ code: 0 });
  expect(await logIn(service, 'barred', password!)).toMatchObject({ status: 200 });
});

test('creating a token prints nothing but the token, which authenticates its user', async ({ service, ann }) => {
  const { out, code } = await dws(variablesOf(service), 'token', 'create', 'ann', '--name', 'cron');

  expect({ out, code }).toEqual({ out: [expect.stringMatching(/^dws_[\w-]{43}$/)], code: 0 });
  const client = new Client(service.url, { authorization: `Bearer ${out[0]}` });
  expect(await client.data('{ me { id } tokens { name scopes } }')).toMatchObject({
    me: { id: ann.id },
    tokens: expect.arrayContaining([{ name: 'cron', scopes: ['READ', 'WRITE'] }]) as unknown,
  });
});

test('a disabled user gets no token', async ({ service }) => {
  await service.user('paused');
  await runSql(service.databaseUrl, `update dws.app_user set enabled = false where username = 'paused'`);
  expect(await dws(variablesOf(service), 'token', 'create', 'paused')).toEqual({
    out: [],
    err: ['The user "paused" is disabled'],
    code: 1,
  });
});

test('users are listed with their rights and state, for the tenant `default` unless another is named', async ({
  service,
  stranger,
}) => {
  for (const name of ['List-b', 'list-a', 'list-c', 'list-d'])
    await service.user(name, { superuser: name === 'list-a' });
  await runSql(
    service.databaseUrl,
    `update dws.app_user set
      enabled = username <> 'list-c',
      locked_at = case username when 'list-d' then now() when 'list-a' then now() - interval '1 day' end
    where username ilike 'list-%'`,
  );
  const { out, code } = await dws(variablesOf(service), 'user', 'list');
  expect({ out: out.filter((line) => /^list-/i.test(line)), code }).toEqual({
    out: ['list-a\tsuperuser\tenabled', 'List-b\tuser\tenabled', 'list-c\tuser\tdisabled', 'list-d\tuser\tlocked'],
    code: 0,
  });
  expect(out).not.toContain(`${stranger.username}\tsuperuser\tenabled`);
  expect((await dws(variablesOf(service), 'user', 'list', '--tenant', 'other')).out).toContain(
    'stranger\tsuperuser\tenabled',
  );
});

test('tokens are listed without their secret; a revoked one is invalid immediately and in the audit log', async ({
  service,
  admin,
}) => {
  const user = await service.user('keyed');
  const [secret] = (await dws(variablesOf(service), 'token', 'create', 'keyed', '--name', 'cron')).out;
  const { out } = await dws(variablesOf(service), 'token', 'list', 'Keyed');
  const id = out.find((line) => line.endsWith('\tcron'))!.split('\t')[0]!;
  expect(out).toEqual([
    expect.stringMatching(/^[\da-f-]{36}\tkeyed\tdws_test…\tread,write\tnever\tnever\ttest$/),
    `${id}\tkeyed\t${secret!.slice(0, 8)}…\tread,write\tnever\tnever\tcron`,
  ]);
  const all = (await dws(variablesOf(service), 'token', 'list')).out;
  expect(all).toEqual(expect.arrayContaining(out));
  expect(all.length).toBeGreaterThan(out.length);

  const client = new Client(service.url, { authorization: `Bearer ${secret}` });
  expect(await client.get('/me')).toMatchObject({ status: 200 });
  const elsewhere = await dws(variablesOf(service), 'token', 'revoke', id, '--tenant', 'other');
  expect(elsewhere).toEqual({ out: [], err: [`There is no token in tenant "other" with id ${id}`], code: 1 });
  expect(await dws(variablesOf(service), 'token', 'revoke', id)).toEqual({
    out: [`Revoked the token ${id}.`],
    err: [],
    code: 0,
  });
  await expect.poll(async () => (await client.get('/me')).status).toBe(401);
  expect(await user.get('/me')).toMatchObject({ status: 200 });
  const left = (await dws(variablesOf(service), 'token', 'list', 'keyed')).out;
  expect(left.map((line) => line.split('\t')[0])).toEqual([out[0]!.split('\t')[0]]);
  const { body } = await admin.get('/audit?action=deleteToken');
  expect(body._embedded['svc:audit-event']).toMatchObject([{ kind: 'token', resourceId: id, channel: 'cli' }]);
  for (const unknown of [id, 'x'])
    expect(await dws(variablesOf(service), 'token', 'revoke', unknown)).toEqual({
      out: [],
      err: [`There is no token in tenant "default" with id ${unknown}`],
      code: 1,
    });
});

describe('usage', () => {
  test('--version prints the version, --help the commands', async () => {
    expect(await dws({}, '--version')).toEqual({ out: [VERSION], err: [], code: 0 });
    const { out, err, code } = await dws({}, '--help');
    expect({ err, code }).toEqual({ err: [], code: 0 });
    expect(out[0]).toBe('Usage: dws [options] [command]');
    expect(out.map((line) => /^ {2}([a-z]+) /.exec(line)?.[1]).filter(Boolean)).toEqual([
      'serve',
      'migrate',
      'doctor',
      'backup',
      'restore',
      'tenant',
      'user',
      'token',
      'schema',
      'secrets',
      'toolkit',
    ]);
  });

  test.for([
    [['frobnicate'], "error: unknown command 'frobnicate'", undefined],
    [['docter'], "error: unknown command 'docter'", '(Did you mean doctor?)'],
    [['user', 'unlok', 'ann'], "error: unknown command 'unlok'", '(Did you mean unlock?)'],
    [['--prot', '4001'], "error: unknown option '--prot'", '(Did you mean --port?)'],
    [['tenant', 'create'], "error: missing required argument 'slug'", undefined],
  ] as const)('%j is an error that names the word, with a suggestion', async ([args, message, suggestion]) => {
    expect(await dws({}, ...args)).toEqual({
      out: [],
      err: [message, ...(suggestion ? [suggestion] : []), 'See `dws --help`.'],
      code: 1,
    });
  });
});

test('migrating an up-to-date database runs no migration', async ({ service }) => {
  expect(await dws(variablesOf(service), 'migrate')).toEqual({
    out: ['The database is up to date.'],
    err: [],
    code: 0,
  });
});

test('an invalid environment variable is an error of one line that names it', async ({ service }) => {
  expect(await dws({ ...variablesOf(service), PORT: 'soon' }, 'tenant', 'list')).toEqual({
    out: [],
    err: ['PORT must be a whole number from 0 to 65535'],
    code: 1,
  });
});

test('a command without a running service starts the embedded Postgres, and stops it again', async () => {
  const folder = await mkdtemp(join(process.getuid?.() === 0 ? '/tmp' : (process.env.TMPDIR ?? '/tmp'), 'dws-cli-'));
  await chmod(folder, 0o711);
  try {
    const variables = { DATABASE_URL: '', DATA_DIR: folder };
    expect(await dws(variables, 'doctor')).toMatchObject({
      out: expect.arrayContaining(['ok    postgres    none yet; the first start creates an embedded one']) as unknown,
      code: 0,
    });
    expect(await dws(variables, 'tenant', 'create', 'acme')).toMatchObject({ err: [], code: 0 });
    expect(await dws(variables, 'tenant', 'list')).toEqual({ out: ['acme\t0 users'], err: [], code: 0 });
    expect(runningEmbeddedPostgres(folder)).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
