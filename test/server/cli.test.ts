import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import { runningEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { runCommand } from '../../src/server/cli/cli.ts';
import { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import type { Service } from '../support/service.ts';

const PASSWORD = 'correct horse battery';

interface Outcome {
  out: string[];
  err: string[];
  code: number;
}

/** Runs `dws` with these variables, in this process. */
async function dws(variables: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const outcome: Outcome = { out: [], err: [], code: 0 };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  vi.spyOn(console, 'log').mockImplementation((line: string) => void outcome.out.push(line));
  vi.spyOn(console, 'error').mockImplementation((line: string) => void outcome.err.push(line));
  const before = process.exitCode;
  process.exitCode = undefined;
  await runCommand(['node', 'dws', ...args]);
  outcome.code = Number(process.exitCode ?? 0);
  process.exitCode = before;
  return outcome;
}

/** The variables of a process beside the service's own. */
const beside = ({ databaseUrl, platform }: Service) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: platform.config.DATA_DIR,
  APP_SECRET: 'a secret for tests',
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const logIn = async (service: Service, username: string, password: string, tenant = 'default') =>
  new Client(service.url).post('/login', { username, password, tenant });

test('a tenant is made once, and listed with its users', async ({ service }) => {
  expect(await dws(beside(service), 'tenant', 'create', 'acme')).toEqual({
    out: ['Made tenant "acme".'],
    err: [],
    code: 0,
  });
  expect(await dws(beside(service), 'user', 'create', 'eve', '--tenant', 'acme', '--password', PASSWORD)).toEqual({
    out: ['Made user "eve" of tenant "acme".'],
    err: [],
    code: 0,
  });
  expect((await dws(beside(service), 'tenant', 'list')).out).toContain('acme\t1 user');
  expect(await dws(beside(service), 'tenant', 'create', 'acme')).toEqual({
    out: [],
    err: ['There already is a tenant "acme"'],
    code: 1,
  });
});

test('a user made on the command line logs in at once, in that tenant alone', async ({ service }) => {
  await dws(beside(service), 'user', 'create', 'Root', '--tenant', 'other', '--password', PASSWORD, '--superuser');

  expect(await logIn(service, 'root', PASSWORD, 'other')).toMatchObject({
    status: 200,
    body: { user: { username: 'Root', superuser: true } },
  });
  expect(await logIn(service, 'root', PASSWORD)).toMatchObject({ status: 401 });
});

test('a password that is too short and a tenant that does not exist are one sentence', async ({ service }) => {
  expect(await dws(beside(service), 'user', 'create', 'x', '--tenant', 'default', '--password', 'short')).toEqual({
    out: [],
    err: ['password must have at least 12 characters'],
    code: 1,
  });
  expect(
    await dws(beside(service), 'user', 'create', 'x', '--tenant', 'nowhere', '--password', PASSWORD),
  ).toMatchObject({ err: [expect.stringContaining('There is no tenant "nowhere"')], code: 1 });
  expect(await dws(beside(service), 'user', 'unlock', 'nobody')).toEqual({
    out: [],
    err: ['There is no user of tenant "default" named "nobody"'],
    code: 1,
  });
});

test('a reset prints a password that works, the former one does not, and sessions end', async ({ service }) => {
  await service.user('forgetful');
  const { headers } = await logIn(service, 'forgetful', PASSWORD);
  const session = new Client(service.url, { cookie: headers.get('set-cookie')!.split(';')[0]! });
  expect(await session.get('/session')).toMatchObject({ status: 200 });

  const {
    out: [password],
    code,
  } = await dws(beside(service), 'user', 'reset-password', 'Forgetful');
  expect(code).toBe(0);
  expect(await logIn(service, 'forgetful', password!)).toMatchObject({ status: 200 });
  expect(await logIn(service, 'forgetful', PASSWORD)).toMatchObject({ status: 401 });
  await expect.poll(async () => (await session.get('/session')).status).toBe(401);
});

test('an unlocked user logs in again', async ({ service }) => {
  await service.user('locked');
  await runSql(
    service.databaseUrl,
    `update dws.app_user set locked_at = now(), login_attempts = 10 where username = 'locked'`,
  );
  expect(await logIn(service, 'locked', PASSWORD)).toMatchObject({ status: 401 });

  expect(await dws(beside(service), 'user', 'unlock', 'locked')).toMatchObject({ code: 0 });
  expect(await logIn(service, 'locked', PASSWORD)).toMatchObject({ status: 200 });
});

test('the printed token is the only line, and speaks for its user', async ({ service, ann }) => {
  const { out, code } = await dws(beside(service), 'token', 'create', 'ann', '--name', 'cron');

  expect({ out, code }).toEqual({ out: [expect.stringMatching(/^dws_[\w-]{43}$/)], code: 0 });
  const client = new Client(service.url, { authorization: `Bearer ${out[0]}` });
  expect(await client.data('{ me { id } tokens { name scopes } }')).toMatchObject({
    me: { id: ann.id },
    tokens: expect.arrayContaining([{ name: 'cron', scopes: ['read', 'write'] }]) as unknown,
  });
});

test('migrating a current database runs nothing', async ({ service }) => {
  expect(await dws(beside(service), 'migrate')).toEqual({ out: ['The database is up to date.'], err: [], code: 0 });
});

test('a malformed variable is one sentence that names it', async ({ service }) => {
  expect(await dws({ ...beside(service), PORT: 'soon' }, 'tenant', 'list')).toEqual({
    out: [],
    err: ['PORT must be a number'],
    code: 1,
  });
});

describe('doctor', () => {
  const named = (outcome: Outcome, word: 'ok' | 'FAIL') =>
    outcome.out.filter((line) => line.startsWith(word)).map((line) => line.slice(6, 18).trim());
  const ALL = [
    'node',
    'config',
    'data folder',
    'disk',
    'postgres',
    'migrations',
    'roles',
    'queue',
    'key ring',
    'index',
  ];

  test('says one line for each thing that is well', async ({ service }) => {
    const outcome = await dws(beside(service), 'doctor');
    expect({ ok: named(outcome, 'ok'), fail: named(outcome, 'FAIL'), code: outcome.code }).toEqual({
      ok: ALL,
      fail: [],
      code: 0,
    });
  });

  test('finds a key ring without the stored key, a table without forced row security, and a folder that others look into', async ({
    service,
  }) => {
    await runSql(service.databaseUrl, 'alter table dws.team no force row level security');
    await chmod(service.platform.config.DATA_DIR, 0o755);
    const outcome = await dws({ ...beside(service), APP_SECRET: 'another secret' }, 'doctor');
    await chmod(service.platform.config.DATA_DIR, 0o700);
    await runSql(service.databaseUrl, 'alter table dws.team force row level security');

    expect({ fail: named(outcome, 'FAIL'), code: outcome.code }).toEqual({
      fail: ['data folder', 'roles', 'key ring'],
      code: 1,
    });
    expect(outcome.out).toContain('FAIL  roles       row-level security is not forced on team');
  });

  test('says so when Postgres does not answer, and looks at the rest', async ({ service }) => {
    const outcome = await dws(
      { ...beside(service), DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:9/dws' },
      'doctor',
    );
    expect({ fail: named(outcome, 'FAIL'), code: outcome.code }).toEqual({ fail: ['postgres'], code: 1 });
    expect(outcome.out.join()).not.toContain('secret@');
  });
});

test('without a running service a command starts the embedded Postgres and stops it again', async () => {
  const folder = await mkdtemp(join(process.getuid?.() === 0 ? '/tmp' : (process.env.TMPDIR ?? '/tmp'), 'dws-cli-'));
  await chmod(folder, 0o711);
  try {
    const variables = { DATABASE_URL: '', DATA_DIR: folder };
    expect(await dws(variables, 'doctor')).toMatchObject({
      out: expect.arrayContaining(['ok    postgres    none yet; the first start makes an embedded one']) as unknown,
      code: 0,
    });
    expect(await dws(variables, 'tenant', 'create', 'acme')).toMatchObject({ err: [], code: 0 });
    expect(await dws(variables, 'tenant', 'list')).toEqual({ out: ['acme\t0 users'], err: [], code: 0 });
    expect(runningEmbeddedPostgres(folder)).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
