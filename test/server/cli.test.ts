import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import { runningEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { runCommand } from '../../src/server/cli/cli.ts';
import { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, type Service } from '../support/service.ts';

/** What a command printed, and its exit code. */
interface CommandResult {
  out: string[];
  err: string[];
  code: number;
}

/** Runs `dws` with these environment variables, in this process. */
async function dws(variables: Record<string, string>, ...args: string[]): Promise<CommandResult> {
  const result: CommandResult = { out: [], err: [], code: 0 };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  vi.spyOn(console, 'log').mockImplementation((line: string) => void result.out.push(line));
  vi.spyOn(console, 'error').mockImplementation((line: string) => void result.err.push(line));
  const exitCodeBefore = process.exitCode;
  process.exitCode = undefined;
  await runCommand(['node', 'dws', ...args]);
  result.code = Number(process.exitCode ?? 0);
  process.exitCode = exitCodeBefore;
  return result;
}

/** The environment variables of a command on the data of this service. */
const variablesOf = ({ databaseUrl, platform }: Service) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: platform.config.DATA_DIR,
  APP_SECRET: 'a secret for tests of enough characters',
});

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
  expect(
    await dws(variablesOf(service), 'user', 'create', 'x', '--tenant', 'nowhere', '--password', PASSWORD),
  ).toMatchObject({ err: [expect.stringContaining('There is no tenant "nowhere"')], code: 1 });
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

test('creating a token prints nothing but the token, which authenticates its user', async ({ service, ann }) => {
  const { out, code } = await dws(variablesOf(service), 'token', 'create', 'ann', '--name', 'cron');

  expect({ out, code }).toEqual({ out: [expect.stringMatching(/^dws_[\w-]{43}$/)], code: 0 });
  const client = new Client(service.url, { authorization: `Bearer ${out[0]}` });
  expect(await client.data('{ me { id } tokens { name scopes } }')).toMatchObject({
    me: { id: ann.id },
    tokens: expect.arrayContaining([{ name: 'cron', scopes: ['read', 'write'] }]) as unknown,
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

describe('doctor', () => {
  /** Returns the names of the checks with this outcome. */
  const namesOf = ({ out }: CommandResult, outcome: 'ok' | 'FAIL') =>
    out.filter((line) => line.startsWith(outcome)).map((line) => line.slice(6, 18).trim());
  const ALL_CHECKS = [
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

  test('prints one line for each check', async ({ service }) => {
    const result = await dws(variablesOf(service), 'doctor');
    expect(namesOf(result, 'ok')).toEqual(ALL_CHECKS);
    expect(namesOf(result, 'FAIL')).toEqual([]);
    expect(result.code).toBe(0);
  });

  test('fails for a missing key, a table without forced row-level security and an open data folder', async ({
    service,
  }) => {
    await runSql(service.databaseUrl, 'alter table dws.team no force row level security');
    const folder = service.platform.config.DATA_DIR;
    await chmod(folder, 0o755);
    const file = join(folder, 'secret');
    await writeFile(file, 'x', { mode: 0o644 });
    await chmod(file, 0o644);
    const result = await dws({ ...variablesOf(service), APP_SECRET: 'another secret of enough characters' }, 'doctor');
    await chmod(folder, 0o700);
    await rm(file);
    await runSql(service.databaseUrl, 'alter table dws.team force row level security');

    expect(namesOf(result, 'FAIL')).toEqual(['data folder', 'roles', 'key ring']);
    expect(result.code).toBe(1);
    expect(result.out).toContain(
      `FAIL  data folder ${file} has mode 644, so other users have access; run chmod 600 on it, and on 1 others, ` +
        'or start the service as its owner',
    );
    expect(result.out).toContain('FAIL  roles       row-level security is not forced on team');
  });

  test('fails for an unreachable Postgres, and runs the other checks', async ({ service }) => {
    const result = await dws(
      { ...variablesOf(service), DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:9/dws' },
      'doctor',
    );
    expect(namesOf(result, 'FAIL')).toEqual(['postgres']);
    expect(result.code).toBe(1);
    expect(result.out.join()).not.toContain('secret@');
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
