import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import { runningEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.ts';
import { runCommand } from '../../src/server/cli/cli.ts';
import { VERSION } from '../../src/server/package-root.ts';
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
  // Help, version and errors of usage.
  for (const [stream, lines] of [[process.stdout, result.out] as const, [process.stderr, result.err] as const])
    vi.spyOn(stream, 'write').mockImplementation((text) => lines.push(...String(text).trimEnd().split('\n')) > 0);
  const exitCodeBefore = process.exitCode;
  process.exitCode = undefined;
  await runCommand(['node', 'dws', ...args]);
  result.code = Number(process.exitCode ?? 0);
  process.exitCode = exitCodeBefore;
  vi.restoreAllMocks();
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

test('users are listed with their rights and state, those of the tenant `default` unless another is named', async ({
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

test('tokens are listed without their secret; a revoked one is invalid at once and in the audit log', async ({
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

  test('prints one JSON object with --json', async ({ service }) => {
    const { out, code } = await dws(variablesOf(service), 'doctor', '--json');
    const { isHealthy, checks } = JSON.parse(out.join('\n')) as { isHealthy: boolean; checks: { name: string }[] };
    expect({ isHealthy, code, names: checks.map(({ name }) => name) }).toEqual({
      isHealthy: true,
      code: 0,
      names: ALL_CHECKS,
    });
    expect(checks[0]).toEqual({ name: 'node', passed: true, detail: process.version });
    const failed = await dws({ ...variablesOf(service), PORT: 'soon' }, 'doctor', '--json');
    expect({ ...JSON.parse(failed.out.join('\n')), code: failed.code }).toEqual({
      isHealthy: false,
      checks: [
        { name: 'node', passed: true, detail: process.version },
        { name: 'config', passed: false, detail: 'PORT must be a whole number from 0 to 65535' },
      ],
      code: 1,
    });
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
