import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { checkRoles } from '../../src/server/roles.ts';
import { deleteExpiredCredentials } from '../../src/services/identity/credential-cleanup.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const APP_ROLE = '-c role=dws_app';

/** Runs `work` with a connection to the database of the service, with these connection options. */
async function connect<T>(
  { databaseUrl }: Service,
  options: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, ...(options && { options }) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns the ids of the tenants by slug. */
async function tenantIds(service: Service): Promise<Record<string, string>> {
  const tenants = await systemQuery<{ slug: string; id: string }>(service, 'select slug, id from dws.tenant');
  return Object.fromEntries(tenants.map(({ slug, id }) => [slug, id]));
}

const enterTenant = (client: pg.Client, tenantId: string) =>
  client.query(`select set_config('app.tenant', $1, false)`, [tenantId]);

describe('the role of requests', () => {
  test('sees nothing without a tenant: every statement fails', async ({ service, ann, stranger }) => {
    expect([ann.username, stranger.username]).toEqual(['ann', 'stranger']);
    const tables = await systemQuery<{ name: string }>(
      service,
      `select c.relname as name
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'dws' and c.relkind = 'r'
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')`,
    );
    expect(tables.length).toBeGreaterThan(8);
    for (const { name } of [...tables, { name: 'tenant' }]) {
      await connect(service, APP_ROLE, async (client) => {
        // The policy is not evaluated for a table without rows, so that statement succeeds and returns nothing.
        const rows = await client.query(`select * from dws.${name}`).then(
          (result) => result.rows,
          () => [],
        );
        expect(rows, name).toEqual([]);
        if (name !== 'app_user' && name !== 'api_token' && name !== 'tenant') return;
        await expect(client.query(`select * from dws.${name}`), name).rejects.toThrow(/app\.tenant/);
        await client.query(`select set_config('app.tenant', '', false)`);
        await expect(client.query(`select * from dws.${name}`), name).rejects.toThrow(/uuid/);
      });
    }
  });

  test('has forced row-level security on every table of tenants, and no access to any other', async ({ service }) => {
    const tables = await service.platform.system.query<{
      name: string;
      hasTenant: boolean;
      isForced: boolean;
      isOpen: boolean;
    }>({
      text: `
        select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as "isForced",
          exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') as "hasTenant",
          has_table_privilege('dws_app', c.oid, 'select, insert, update, delete') as "isOpen"
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'dws' and c.relkind in ('r', 'v', 'm', 'p')`,
    });
    for (const { name, hasTenant, isForced, isOpen } of tables) {
      if (hasTenant || name === 'tenant') expect(isForced, name).toBe(true);
      else expect(isOpen, name).toBe(false);
    }
    // A transaction of a tenant adds jobs, which contain ids only. It changes none.
    const [other] = await systemQuery(
      service,
      `select
        has_table_privilege('dws_app', 'dws_jobs.job_common', 'update, delete') as jobs,
        has_schema_privilege('dws_app', 'dws', 'create') as creates,
        has_table_privilege('dws_app', 'dws.tenant', 'update') as tenants`,
    );
    expect(other).toEqual({ jobs: false, creates: false, tenants: false });
  });

  test('reads and writes rows of its tenant only, even with statements that do not name the tenant', async ({
    service,
    ann,
    stranger,
  }) => {
    const tenants = await tenantIds(service);
    await connect(service, APP_ROLE, async (client) => {
      await enterTenant(client, tenants['default']!);
      const { rows } = await client.query('select username, tenant_id from dws.app_user');
      expect(new Set(rows.map((row) => row.tenant_id))).toEqual(new Set([tenants['default']]));
      expect(rows.map((row) => row.username)).toContain(ann.username);
      expect((await client.query('select slug from dws.tenant')).rows).toEqual([{ slug: 'default' }]);
      const renamed = await client.query('update dws.app_user set display_name = $1', ['Renamed']);
      expect(renamed.rowCount).toBe(rows.length);
      const deleted = await client.query('delete from dws.app_user where id = $1', [stranger.id]);
      expect(deleted.rowCount).toBe(0);
      await expect(
        client.query('update dws.app_user set tenant_id = $1 where id = $2', [tenants['other'], ann.id]),
      ).rejects.toThrow(/row-level security/);
      await expect(
        client.query(`insert into dws.team (id, tenant_id, name, slug) values (gen_random_uuid(), $1, 'Spy', 'spy')`, [
          tenants['other'],
        ]),
      ).rejects.toThrow(/row-level security/);
    });
    expect((await stranger.get('/me')).body.displayName).toBeNull();
    expect((await ann.get('/me')).body.displayName).toBe('Renamed');
    const usersOfOther = await service.platform.database.query(tenants['other']!, {
      text: 'select username from dws.app_user',
    });
    expect(usersOfOther).toEqual([{ username: 'stranger' }]);
  });

  test('is refused at the start if it is a superuser, bypasses row-level security or owns a table', async ({
    service,
  }) => {
    await connect(service, '', async (client) => {
      await expect(checkRoles(client)).resolves.toBeUndefined();
      for (const mistake of [
        'alter role dws_app superuser',
        'alter role dws_system bypassrls',
        'alter role dws_app bypassrls',
        'grant create on schema dws to dws_app; alter table dws.team owner to dws_app',
      ]) {
        // Roles belong to the whole cluster. The change is rolled back, so no other test sees it.
        await client.query('begin');
        await client.query(mistake);
        await expect(checkRoles(client), mistake).rejects.toThrow(
          /must not be a superuser, bypass row-level security or own tables/,
        );
        await client.query('rollback');
      }
    });
  });
});

describe('connections', () => {
  const filesIn = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name));
  const sources = ['src', 'resolvers', 'rest-bridge', 'entities'].flatMap(filesIn);
  const filesMatching = (pattern: RegExp) => sources.filter((file) => pattern.test(readFileSync(file, 'utf8'))).sort();

  test('are opened in few files, and connections of tenants are acquired in one place', () => {
    expect(filesMatching(/new (pg\.)?Pool\(/)).toEqual(['src/adapters/database/pool.ts']);
    expect(filesMatching(/new TenantPool\(/)).toEqual(['src/adapters/database/tenant-database.ts']);
    expect(filesMatching(/\bopenPool\(/)).toEqual([
      'src/adapters/database/pool.ts',
      'src/adapters/database/system-pool.ts',
      'src/adapters/database/tenant-pool.ts',
    ]);
    expect(filesMatching(/new (pg\.)?Client\(/)).toEqual([
      'src/adapters/app-workspace/server-address.ts', // reads a URL, does not connect
      'src/adapters/app-workspace/workspace-client.ts', // tables of apps, in a database of their own
      'src/adapters/database/generation-lock.ts', // advisory lock on rows while they are loaded
      'src/adapters/database/listener.ts', // receives ids, reads no rows
      'src/adapters/dataset-index/elasticsearch/client.ts', // a search engine
      'src/adapters/demo-source/demo-source.ts', // its own database, created as a source
      'src/adapters/drivers/postgres/session.ts', // sources of users
      'src/adapters/embedded-postgres/embedded-postgres.ts', // creates the database
      'src/adapters/mcp/server-connection.ts', // a client of MCP servers
      'src/server/backup/backup.ts', // a command of operators, reads all rows as the system role
      'src/server/backup/restore.ts',
      'src/server/cli/generated-files.ts', // a command of developers
      'src/server/cli/operator-database.ts', // commands of operators
      'src/server/cli/stdio-server.ts', // a client of an MCP server, in a command of users
      'src/server/migrate.ts',
      'src/server/start-checks.ts', // connects once, reads no rows
    ]);
    const database = readFileSync('src/adapters/database/tenant-pool.ts', 'utf8');
    expect(database.match(/connect\(this\.#pool\)/g), '`#connect` only').toHaveLength(1);
    expect(database.match(/setTenant\(client, tenantId\)/g), 'by both users of `#connect`').toHaveLength(2);
    expect(database.match(/this\.#connect\(\)/g)).toHaveLength(2);
    expect(database).not.toMatch(/(?<!#)\bpool: pg\.Pool;/);
  });

  test('without a tenant are used in few files', () => {
    expect(
      filesMatching(/\bsystem\s*\.(query|transaction)\b|\bSystemPool\b/).filter((file) =>
        /^(resolvers|rest-bridge|entities)/.test(file),
      ),
    ).toEqual([]);
    const services = filesMatching(/(?<!typeof platform\.)\bsystem\s*\.(query|transaction)\b/).filter((file) =>
      file.startsWith('src/services/'),
    );
    expect(services).toEqual([
      'src/services/agent/event-dispatch.ts',
      'src/services/ai/sent-call.ts',
      'src/services/app/find-running-app.ts',
      'src/services/identity/authenticator.ts',
      'src/services/identity/avatar-image.ts',
      'src/services/identity/bootstrap.ts',
      'src/services/identity/credential.ts',
      'src/services/identity/login.ts',
      'src/services/identity/operator.ts',
      'src/services/identity/password-reset.ts',
      'src/services/identity/principal-viewer.ts',
      'src/services/identity/provider-login-state.ts',
      'src/services/identity/provider-login.ts',
      'src/services/identity/session-opening.ts',
      'src/services/job/job-due.ts',
      'src/services/job/job-recovery.ts',
      'src/services/operation/operation-repository.ts',
      'src/services/operation/run-end.ts',
      'src/services/resource/audit-read.ts',
      'src/services/resource/audit.ts',
    ]);
  });

  test('limit the duration of every statement', async ({ service }) => {
    const tenants = await tenantIds(service);
    const settings = `
      select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle,
        current_user as role`;
    expect(await service.platform.database.query(tenants['default']!, { text: settings })).toEqual([
      { statement: '1min', idle: '1min', role: 'dws_app' },
    ]);
    expect(await service.platform.system.query({ text: settings })).toEqual([
      { statement: '1min', idle: '1min', role: 'dws_system' },
    ]);
    const slow = service.platform.system.transaction(async (query) => {
      await query({ text: `set local statement_timeout = '20ms'` });
      await query({ text: 'select pg_sleep(10)' });
    });
    await expect(slow).rejects.toThrow(/statement timeout/);
  });
});

test('the cleanup deletes expired credentials and outdated records only', async ({ service, ann }) => {
  const { system } = service.platform;
  await Promise.all([service.login('ann'), service.login('ann')]);
  const countRows = async (table: string) =>
    (await system.query<{ n: number }>({ text: `select count(*) as n from dws.${table}` }))[0]!.n;
  const [tokens, addresses] = [await countRows('api_token'), await countRows('known_address')];
  await system.query({
    text: `
      update dws.session set expires_at = now() - interval '1 second'
      where id = (select id from dws.session where user_id = $1 limit 1)`,
    values: [ann.id],
  });
  await system.query({
    text: `insert into dws.login_attempt (key, at) values ('old', now() - interval '16 minutes'), ('new', now())`,
  });
  await system.query({
    text: `
      insert into dws.rate_count (caller, at, count)
      values ('old', now() - interval '3 minutes', 1), ('new', now(), 1)`,
  });
  await deleteExpiredCredentials((statement) => system.query(statement));
  expect(
    await Promise.all(['session', 'api_token', 'known_address', 'login_attempt', 'rate_count'].map(countRows)),
  ).toEqual([1, tokens, addresses, 1, 1]);
});

const usernamesOf = (users: { username: string }[]): string[] => users.map(({ username }) => username);

describe('two tenants on one pool', () => {
  const calls: ((client: Client) => Promise<string[]>)[] = [
    async (client) => usernamesOf((await client.get('/users?limit=1000')).body._embedded['svc:user']),
    async (client) => usernamesOf((await client.get('/users-list')).body),
    async (client) => usernamesOf((await client.data('{ users(limit: 1000) { items { username } } }')).users.items),
    async (client) => usernamesOf([(await client.put('/me', { displayName: client.username })).body]),
  ];

  test('never see each other’s rows when their requests interleave', async ({ service, ann, stranger }) => {
    for (let n = 0; n < 3; n++) {
      await service.user(`mine${n}`);
      await service.user(`theirs${n}`, { tenant: 'other' });
    }
    const own = { ann: /^(ann|admin|bob|mine\d)$/, stranger: /^(stranger|theirs\d)$/ };
    const responses = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const client = n % 2 ? ann : stranger;
        return {
          caller: client.username as 'ann' | 'stranger',
          usernames: await calls[(n >> 1) % calls.length]!(client),
        };
      }),
    );
    expect(responses).toHaveLength(200);
    for (const { caller, usernames } of responses) {
      expect(usernames.length).toBeGreaterThan(0);
      for (const username of usernames) expect(username).toMatch(own[caller]);
    }
    expect((await ann.get('/me')).body.displayName).toBe('ann');
    expect((await stranger.get('/me')).body.displayName).toBe('stranger');
  });

  test('never see each other’s rows in statements without a tenant or after failed transactions', async ({
    service,
    ann,
    stranger,
  }) => {
    expect([ann.username, stranger.username]).toEqual(['ann', 'stranger']);
    const { database } = service.platform;
    const ids = Object.values(await tenantIds(service));
    const visibleTenants = { text: 'select distinct tenant_id as tenant from dws.app_user' };
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const tenant = ids[n % ids.length]!;
        if (n % 5 === 0) await expect(database.query(tenant, { text: 'select 1/0' })).rejects.toThrow(/division/);
        if (n % 7 === 0)
          await expect(
            database.transaction(tenant, async ({ query }) => {
              await query({ text: 'update dws.app_user set middle_name = null' });
              throw new Error('undone');
            }),
          ).rejects.toThrow('undone');
        const found =
          n % 3 === 0
            ? await database.transaction(tenant, ({ query }) => query(visibleTenants))
            : await database.query(tenant, visibleTenants);
        return { tenant, found };
      }),
    );
    for (const { tenant, found } of results) expect(found).toEqual([{ tenant }]);
  });
});
