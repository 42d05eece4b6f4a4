import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { checkRoles } from '../../src/server/roles.ts';
import { sweepCredentials } from '../../src/services/identity/credential-cleanup.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';

/** A connection of the test's own, with the role of the tenants' pool. */
async function as<T>(role: string, { databaseUrl }: Service, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, ...(role && { options: `-c role=${role}` }) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const tenantsOf = async ({ platform }: Service) =>
  Object.fromEntries(
    (await platform.system.query<{ slug: string; id: string }>({ text: 'select slug, id from dws.tenant' })).map(
      ({ slug, id }) => [slug, id],
    ),
  );
const enter = (client: pg.Client, tenantId: string) =>
  client.query(`select set_config('app.tenant', $1, false)`, [tenantId]);

describe('the role that serves tenants', () => {
  test('sees nothing without a tenant: every statement fails', async ({ service, ann, stranger }) => {
    expect([ann.username, stranger.username]).toEqual(['ann', 'stranger']);
    const tables = await service.platform.system.query<{ name: string }>({
      text: `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'dws' and c.relkind = 'r' and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')`,
    });
    expect(tables.length).toBeGreaterThan(8);
    for (const { name } of [...tables, { name: 'tenant' }]) {
      await as('dws_app', service, async (client) => {
        // A table without rows has none to judge: it answers what it has, nothing.
        expect(
          await client.query(`select * from dws.${name}`).then(
            ({ rows }) => rows,
            () => [],
          ),
          name,
        ).toEqual([]);
        if (name !== 'app_user' && name !== 'api_token' && name !== 'tenant') return;
        await expect(client.query(`select * from dws.${name}`), name).rejects.toThrow(/app\.tenant/);
        await client.query(`select set_config('app.tenant', '', false)`);
        await expect(client.query(`select * from dws.${name}`), name).rejects.toThrow(/uuid/);
      });
    }
  });

  test('has row-level security forced on every table that belongs to tenants, and no way into any other', async ({
    service,
  }) => {
    const rows = await service.platform.system.query<{
      name: string;
      tenanted: boolean;
      forced: boolean;
      open: boolean;
    }>({
      text: `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') as tenanted,
      has_table_privilege('dws_app', c.oid, 'select') or has_table_privilege('dws_app', c.oid, 'insert') or has_table_privilege('dws_app', c.oid, 'update') or has_table_privilege('dws_app', c.oid, 'delete') as open
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'dws' and c.relkind in ('r', 'v', 'm', 'p')`,
    });
    for (const { name, tenanted, forced, open } of rows) {
      if (tenanted || name === 'tenant') expect(forced, name).toBe(true);
      else expect(open, name).toBe(false);
    }
    // A tenant's transaction adds jobs, which carry ids only; it changes none.
    const [other] = await service.platform.system.query({
      text: `select has_table_privilege('dws_app', 'dws_jobs.job_common', 'update') or has_table_privilege('dws_app', 'dws_jobs.job_common', 'delete') as jobs, has_schema_privilege('dws_app', 'dws', 'create') as creates, has_table_privilege('dws_app', 'dws.tenant', 'update') as tenants`,
    });
    expect(other).toEqual({ jobs: false, creates: false, tenants: false });
  });

  test('sees, changes and makes only what is its tenant’s, even by a statement that forgets to name it', async ({
    service,
    ann,
    stranger,
  }) => {
    const tenants = await tenantsOf(service);
    await as('dws_app', service, async (client) => {
      await enter(client, tenants['default']!);
      const { rows } = await client.query('select username, tenant_id from dws.app_user');
      expect(new Set(rows.map((row) => row.tenant_id))).toEqual(new Set([tenants['default']]));
      expect(rows.map((row) => row.username)).toContain(ann.username);
      expect((await client.query('select slug from dws.tenant')).rows).toEqual([{ slug: 'default' }]);
      expect((await client.query('update dws.app_user set display_name = $1', ['Everybody'])).rowCount).toBe(
        rows.length,
      );
      expect((await client.query('delete from dws.app_user where id = $1', [stranger.id])).rowCount).toBe(0);
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
    expect((await ann.get('/me')).body.displayName).toBe('Everybody');
    const forgetful = await service.platform.database.query(tenants['other']!, {
      text: 'select username from dws.app_user',
    });
    expect(forgetful).toEqual([{ username: 'stranger' }]);
  });

  test('is refused at the start when it is a superuser, bypasses row-level security or owns a table', async ({
    service,
  }) => {
    await as('', service, async (client) => {
      await expect(checkRoles(client)).resolves.toBeUndefined();
      for (const slip of [
        'alter role dws_app superuser',
        'alter role dws_system bypassrls',
        'alter role dws_app bypassrls',
        'grant create on schema dws to dws_app; alter table dws.team owner to dws_app',
      ]) {
        // Roles belong to the whole cluster: what a transaction does not commit nobody else sees.
        await client.query('begin');
        await client.query(slip);
        await expect(checkRoles(client), slip).rejects.toThrow(/must be none of these/);
        await client.query('rollback');
      }
    });
  });
});

describe('connections', () => {
  const files = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name));
  const sources = ['src', 'resolvers', 'rest-bridge', 'entities'].flatMap(files);
  const naming = (pattern: RegExp) => sources.filter((file) => pattern.test(readFileSync(file, 'utf8'))).sort();

  test('are opened in few places, and tenants’ rows are reached through `acquire` alone', () => {
    expect(naming(/new (pg\.)?Pool\(/)).toEqual(['src/adapters/database/tenant-pool.ts']);
    expect(naming(/new TenantPool\(/)).toEqual(['src/adapters/database/tenant-database.ts']);
    expect(naming(/\bopenPool\(/)).toEqual([
      'src/adapters/database/system-pool.ts',
      'src/adapters/database/tenant-pool.ts',
    ]);
    expect(naming(/new (pg\.)?Client\(/)).toEqual([
      'src/adapters/database/generation-lock.ts', // the advisory lock of rows in the making
      'src/adapters/database/listener.ts', // hears ids, reads nothing
      'src/adapters/dataset-index/elasticsearch/client.ts', // a search engine
      'src/adapters/demo-source/demo-source.ts', // a database of its own, made as a source
      'src/adapters/drivers/postgres/session.ts', // users' sources
      'src/adapters/embedded-postgres/embedded-postgres.ts', // makes the database
      'src/server/cli/doctor.ts',
      'src/server/cli/generated-files.ts', // the operator's and the developer's
      'src/server/migrate.ts',
    ]);
    const database = readFileSync('src/adapters/database/tenant-pool.ts', 'utf8');
    expect(database.match(/connect\(this\.#pool\)/g), '`acquire` and nothing else takes from the pool').toHaveLength(1);
    expect(database).not.toMatch(/(?<!#)\bpool: pg\.Pool;/);
  });

  test('across tenants are used by few files', () => {
    expect(
      naming(/\bsystem\.(query|transaction)\b|\bSystemPool\b/).filter((file) =>
        /^(resolvers|rest-bridge|entities)/.test(file),
      ),
    ).toEqual([]);
    const services = naming(/(?<!typeof platform\.)\bsystem\.(query|transaction)\b/).filter((file) =>
      file.startsWith('src/services/'),
    );
    expect(services).toEqual([
      'src/services/identity/authenticator.ts',
      'src/services/identity/bootstrap.ts',
      'src/services/identity/credential-cleanup.ts',
      'src/services/identity/credential.ts',
      'src/services/identity/login.ts',
      'src/services/identity/operator.ts',
      'src/services/identity/password-reset.ts',
      'src/services/operation/operation-repository.ts',
      'src/services/resource/audit.ts',
    ]);
  });

  test('bound every statement', async ({ service }) => {
    const tenants = await tenantsOf(service);
    const bounds = `select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle, current_user as role`;
    expect(await service.platform.database.query(tenants['default']!, { text: bounds })).toEqual([
      { statement: '1min', idle: '1min', role: 'dws_app' },
    ]);
    expect(await service.platform.system.query({ text: bounds })).toEqual([
      { statement: '1min', idle: '1min', role: 'dws_system' },
    ]);
    const late = service.platform.system.transaction(async (query) => {
      await query({ text: `set local statement_timeout = '20ms'` });
      await query({ text: 'select pg_sleep(10)' });
    });
    await expect(late).rejects.toThrow(/statement timeout/);
  });
});

test('what no longer counts for anybody is swept away, and nothing else', async ({ service, ann }) => {
  const { system } = service.platform;
  await Promise.all([service.login('ann'), service.login('ann')]);
  const count = async (table: string) =>
    (await system.query<{ n: number }>({ text: `select count(*) as n from dws.${table}` }))[0]!.n;
  const [tokens, addresses] = [await count('api_token'), await count('known_address')];
  await system.query({
    text: `update dws.session set expires_at = now() - interval '1 second' where id = (select id from dws.session where user_id = $1 limit 1)`,
    values: [ann.id],
  });
  await system.query({
    text: `insert into dws.login_attempt (key, at) values ('old', now() - interval '2 minutes'), ('new', now())`,
  });
  await system.query({
    text: `insert into dws.rate_count (caller, at, count) values ('old', now() - interval '3 minutes', 1), ('new', now(), 1)`,
  });
  await sweepCredentials(system);
  expect(
    await Promise.all(['session', 'api_token', 'known_address', 'login_attempt', 'rate_count'].map(count)),
  ).toEqual([1, tokens, addresses, 1, 1]);
});

describe('two tenants on one pool', () => {
  test('never see each other, however their requests interleave', async ({ service, ann, stranger }) => {
    for (let n = 0; n < 3; n++) {
      await service.user(`mine${n}`);
      await service.user(`theirs${n}`, { tenant: 'other' });
    }
    const asks: ((client: Client) => Promise<string[]>)[] = [
      async (client) =>
        (await client.get('/users?limit=1000')).body._embedded['svc:user'].map(
          ({ username }: { username: string }) => username,
        ),
      async (client) => (await client.get('/users-list')).body.map(({ username }: { username: string }) => username),
      async (client) =>
        (await client.data('{ users(limit: 1000) { items { username } } }')).users.items.map(
          ({ username }: { username: string }) => username,
        ),
      async (client) => [(await client.put('/me', { displayName: client.username })).body.username],
    ];
    const own = { ann: /^(ann|admin|bob|mine\d)$/, stranger: /^(stranger|theirs\d)$/ };
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const client = n % 2 ? ann : stranger;
        return { who: client.username as 'ann' | 'stranger', names: await asks[(n >> 1) % asks.length]!(client) };
      }),
    );
    expect(answers).toHaveLength(200);
    for (const { who, names } of answers) {
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(name).toMatch(own[who]);
    }
    expect([(await ann.get('/me')).body.displayName, (await stranger.get('/me')).body.displayName]).toEqual([
      'ann',
      'stranger',
    ]);
  });

  test('stay apart in statements that forget their tenant and in transactions, also after one failed', async ({
    service,
    ann,
    stranger,
  }) => {
    expect([ann.username, stranger.username]).toEqual(['ann', 'stranger']);
    const { database } = service.platform;
    const ids = Object.values(await tenantsOf(service));
    const seen = { text: 'select distinct tenant_id as tenant from dws.app_user' };
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
            ? await database.transaction(tenant, ({ query }) => query(seen))
            : await database.query(tenant, seen);
        return { tenant, found };
      }),
    );
    for (const { tenant, found } of results) expect(found).toEqual([{ tenant }]);
  });
});
