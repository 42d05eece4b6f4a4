import { randomBytes } from 'node:crypto';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, vi } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { createApp } from '../app/app-fixture.ts';
import { appsUrl } from '../app/workspace-fixture.ts';
import { dws, variablesOf, type CommandResult } from '../support/command.ts';
import { expectBody } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
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
    'apps',
    'credits',
    'connections',
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
    expect(checks[1]).toEqual({ name: 'config', passed: true, detail: 'read, ROLE=all' });
    const narrow = await dws({ ...variablesOf(service), WORKER_CONCURRENCY: '3' }, 'doctor', '--json');
    expect(JSON.parse(narrow.out.join('\n')).checks[1].detail).toBe(
      'read, ROLE=all; WORKER_CONCURRENCY=3 leaves a tenant one place, so that its users wait for each other: set it to 4 or more',
    );
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

  test('says that callers share the limits of one address when PUBLIC_URL shows an unknown proxy', async ({
    service,
  }) => {
    const { DATA_DIR, APP_SECRET } = variablesOf(service);
    // Variables stay set until the end of the test.
    const unset = { DATA_DIR, APP_SECRET, PUBLIC_URL: '', TRUST_PROXY: '', HOST: '', PORT: '', ROLE: '' };
    const noteOf = async (variables: Record<string, string>) => {
      const { out: lines } = await dws({ ...unset, ...variables }, 'doctor');
      return lines.find((line) => line.includes(' config '))!.replace('ok    config      read, ROLE=', '');
    };
    const https = { PUBLIC_URL: 'https://dws.example' };
    expect(await noteOf(https)).toBe(
      'all; PUBLIC_URL=https://dws.example is not where the service listens, and TRUST_PROXY is unset: if a proxy is in between, ' +
        'all callers share the limits of its address. Set TRUST_PROXY to the addresses of the proxy',
    );
    for (const [variables, isNoted] of [
      [{ ...https, TRUST_PROXY: 'loopback' }, false],
      [{ ...https, ROLE: 'worker' }, false],
      [{ PUBLIC_URL: 'http://dws.example:4000' }, true],
      [{ PUBLIC_URL: 'http://dws.example:4000', HOST: '0.0.0.0' }, false],
      [{ PUBLIC_URL: 'http://dws.example', HOST: '0.0.0.0' }, true],
      [{ PUBLIC_URL: 'http://dws.example', HOST: '0.0.0.0', PORT: '80' }, false],
      [{ PUBLIC_URL: 'http://localhost:4000' }, false],
    ] as [Record<string, string>, boolean][])
      expect([variables, (await noteOf(variables)).includes('TRUST_PROXY is unset')]).toEqual([variables, isNoted]);
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
    const { system, secrets } = service.platform;
    const stored = { text: `insert into dws.setting values ('unshown_password', $1)`, values: [secrets.seal('p')] };
    await system.query(stored);
    const result = await dws({ ...variablesOf(service), APP_SECRET: 'another secret of enough characters' }, 'doctor');
    await chmod(folder, 0o700);
    await rm(file);
    await system.query({ text: `delete from dws.setting where name = 'unshown_password'` });
    await runSql(service.databaseUrl, 'alter table dws.team force row level security');

    expect(namesOf(result, 'FAIL')).toEqual(['data folder', 'roles', 'key ring']);
    expect(result.code).toBe(1);
    expect(result.out).toContain(
      `FAIL  data folder ${file} has mode 644, so other users have access; run chmod 600 on it, and on one other, ` +
        'or start the service as its owner',
    );
    expect(result.out).toContain('FAIL  roles       row-level security is not forced on team');
  });

  test('says before the first start, and after a restore, that it creates what is missing', async ({ service }) => {
    const database = await createDatabase('template0');
    onTestFinished(() => database.drop());
    const variables = { ...variablesOf(service), DATABASE_URL: database.url };
    const before = await dws(variables, 'doctor');
    expect(before.code).toBe(0);
    expect(namesOf(before, 'ok')).toEqual(['node', 'config', 'data folder', 'disk', 'postgres', 'migrations', 'roles']);
    expect(before.out).toContain('ok    migrations  none ran yet; the first start creates the tables');
    await dws(variables, 'migrate');
    const migrated = await dws(variables, 'doctor');
    expect(namesOf(migrated, 'FAIL')).toEqual([]);
    expect(migrated.code).toBe(0);
    expect(migrated.out).toContain('ok    queue       not there yet; the first start creates it');
  });

  test('prints with --sql all that an administrator runs, once, before the first start', async ({ service }) => {
    const database = await createDatabase('template0');
    const login = `limited_${randomBytes(4).toString('hex')}`;
    await runSql(database.url, `create role ${login} login password 'limited'`);
    const limited = Object.assign(new URL(database.url), { username: login, password: 'limited' }).href;
    const variables = { ...variablesOf(service), DATABASE_URL: limited };
    const name = new URL(database.url).pathname.slice(1);
    const apps = `${name}_apps`;
    onTestFinished(async () => {
      await database.drop();
      for (const sql of [
        `revoke set on parameter temp_file_limit, log_min_messages from ${login}`,
        `drop role ${login}`,
      ])
        await runSql(service.databaseUrl, sql);
    });

    const refused = await dws(variables, 'doctor');
    expect(namesOf(refused, 'FAIL')).toEqual(['roles']);
    expect(refused.out).toContain(
      'FAIL  roles       the login lacks rights for the first start: an administrator runs what `dws doctor --sql` prints',
    );
    const { out } = await dws(variables, 'doctor', '--sql');
    const statements = out.join('\n').split('\n');
    expect(statements).toEqual([
      `grant create on database ${name} to ${login};`,
      `grant dws_app to ${login} with set true;`,
      `grant dws_system to ${login} with set true;`,
      '-- For apps:',
      `alter role "${login}" createrole;`,
      `create database "${apps}" owner "${login}";`,
      `grant set on parameter temp_file_limit, log_min_messages to "${login}";`,
    ]);
    for (const sql of statements) if (!sql.startsWith('--')) await runSql(database.url, sql);
    expect((await dws(variables, 'doctor', '--sql')).out).toEqual(['-- Nothing is missing.']);
    expect((await dws(variables, 'migrate')).code).toBe(0);
    const after = await dws(variables, 'doctor');
    expect({ failed: namesOf(after, 'FAIL'), code: after.code }).toEqual({ failed: [], code: 0 });
    expect(after.out.join('\n')).not.toContain('temp_file_limit');
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

  test('counts connections by their status, and libraries whose last sync failed', async ({ service, admin }) => {
    const lineOf = async () => (await dws(variablesOf(service), 'doctor')).out.at(-1);
    expect(await lineOf()).toBe('ok    connections 0 connected, 0 expired; 0 libraries whose last sync failed');
    const integration = { name: 'Drive', type: 'google-drive', clientId: 'id' };
    const { id: integrationId } = await admin.creates('/integrations', integration);
    for (const [name, status, success] of [
      ['One', 'connected', true],
      ['Two', 'connected', false],
      ['Three', 'expired', false],
    ]) {
      const { id } = await admin.creates('/libraries', { name, integrationId });
      await runSql(
        service.databaseUrl,
        `update dws.library set last_sync = '{"success": ${success}}' where id = '${id}';
        insert into dws.connection
          (id, tenant_id, library_id, owner_id, integration_id, status, sealed_tokens, last_authorized_at)
        select '${newId()}', tenant_id, id, '${admin.id}', '${integrationId}', '${status}', '', now()
        from dws.library where id = '${id}'`,
      );
    }
    expect(await lineOf()).toBe('ok    connections 2 connected, 1 expired; 2 libraries whose last sync failed');
  });

  test('reports the outcome of the last sync with the license manager', async ({ service }) => {
    const lineOf = async (variables: Record<string, string> = {}) =>
      (await dws({ ...variablesOf(service), ...variables }, 'doctor')).out.find((line) => line.includes(' credits '));
    const manager = { LICENSE_MANAGER_URL: 'https://licenses.example' };
    expect(await lineOf()).toBe('ok    credits     no license manager');
    expect(await lineOf(manager)).toBe('ok    credits     0 tenants synced with the license manager, 2 not yet');
    await runSql(
      service.databaseUrl,
      `insert into dws.credit_sync (tenant_id, hour, included, synced_at) select id, now(), 1, now() from dws.tenant`,
    );
    expect(await lineOf(manager)).toBe('ok    credits     2 tenants synced with the license manager, 0 not yet');
    await runSql(
      service.databaseUrl,
      `update dws.credit_sync set failed_at = now(), failure_code = 'lm_error'
       where tenant_id = (select min(tenant_id::text)::uuid from dws.credit_sync)`,
    );
    expect(await lineOf(manager)).toBe(
      'FAIL  credits     the last sync of 1 tenants with the license manager failed: lm_error',
    );
  });

  test('says what is in the database of the apps, and what the service cannot limit there', async ({ service }) => {
    const lineOf = async (variables: Record<string, string> = variablesOf(service)) =>
      (await dws(variables, 'doctor')).out.find((line) => line.slice(6).startsWith('apps'));
    const database = `${new URL(service.databaseUrl).pathname.slice(1)}_apps`;
    const shared =
      '; apps share the server of DATABASE_URL, whose memory a statement can use up: set APPS_DATABASE_URL to a server of ' +
      'its own, with LimitDATA= in its unit';
    const url = appsUrl(service.databaseUrl);
    expect(await lineOf()).toBe(
      `ok    apps        "${database}" does not exist yet; the first migration of an app creates it${shared}`,
    );
    const admin = await service.user('apps_admin', { superuser: true });
    const id = await createApp(admin, 'Examined', { 'migrations/1.sql': 'create table note (id int)' });
    await expectBody(admin.post(`/apps/${id}/_migrate`), 200, { migrated: ['1.sql'], total: 1 });
    expect(await lineOf()).toBe(`ok    apps        "${database}" responds, 1 workspace${shared}`);
    // A login that is not a superuser cannot hide anything. Here a superuser has shown it again.
    await runSql(url, 'grant select on pg_catalog.pg_proc to public');
    await service.platform.workspaces.provision({ tenantId: newId(), appId: newId() });
    expect(await lineOf()).toBe(
      `ok    apps        "${database}" responds, 2 workspaces; 1 of no app, which a worker deletes; ` +
        'apps can read definitions of each other in 1 part of the catalog, not rows until the next migration' +
        shared,
    );
    const [{ schema }] = (await runSql(service.databaseUrl, 'select schema_name as schema from dws.app')) as [
      { schema: string },
    ];
    for (const sql of [`drop owned by ${schema}, ${schema}_owner cascade`, `drop schema ${schema} cascade`])
      await runSql(url, sql);
    await runSql(url, `drop role ${schema}, ${schema}_owner`);
    expect(await lineOf()).toBe(
      `FAIL  apps        the schema ${schema} of an app is missing in "${database}"; run the migrations of this app`,
    );
    expect(await lineOf({ ...variablesOf(service), APPS_DATABASE_URL: 'postgres://someone@127.0.0.1:9/apps' })).toBe(
      "FAIL  apps        The apps' database does not respond",
    );
    const login = `limited_${database}`;
    await runSql(service.databaseUrl, `create role ${login} login password 'limited'`);
    await runSql(url, `grant connect on database ${database} to ${login}`);
    const limited = Object.assign(new URL(url), { username: login, password: 'limited' }).href;
    expect(await lineOf({ ...variablesOf(service), APPS_DATABASE_URL: limited })).toBe(
      `FAIL  apps        the login "${login}" may not create roles: run alter role "${login}" createrole`,
    );
    await runSql(url, `alter role ${login} createrole`);
    const warned =
      `the login "${login}" cannot set temp_file_limit, so that a statement of an app can fill the disk of the server: ` +
      `run grant set on parameter temp_file_limit to "${login}"`;
    const other = { ...variablesOf(service), APPS_DATABASE_URL: limited };
    await runSql(service.databaseUrl, 'delete from dws.app');
    expect(await lineOf(other)).toContain(warned);
    await runSql(url, `grant set on parameter temp_file_limit to ${login}`);
    expect(await lineOf(other)).not.toContain('temp_file_limit');
    await runSql(url, `revoke set on parameter temp_file_limit from ${login}`);
    await runSql(url, `revoke all on database ${database} from ${login}; drop role ${login}`);
  });
});
