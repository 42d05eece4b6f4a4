/**
 * Fills tenant `bench` of the migrated database at DATABASE_URL with the page that `../shared/bench` serves: queries
 * `Job <number> of <n>`, owned by 200 users `User Number <n>`, where user 2 owns every second query. Ids are md5 of
 * `job<n>` and `user<n>`. `node bench/fill.ts <count>`
 */
import { createHash } from 'node:crypto';
import pg from 'pg';

/** Bearer tokens of a superuser (user 1) and of an ordinary caller, who reads only what they own (user 2). */
export const TOKENS = { superuser: `dws_${'s'.repeat(43)}`, ordinary: `dws_${'o'.repeat(43)}` };

/** Returns the UUID that `uuid` of a text is in SQL. */
export const idOf = (text: string): string =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
const uuid = (text: string): string => `md5(${text})::uuid`;
const TENANT = uuid(`'bench'`);

/** Inserts one tenant, 200 users, a datasource that user 2 may use, and the tokens, unless they exist. */
const PEOPLE = `
  insert into dws.tenant (id, slug) values (${TENANT}, 'bench') on conflict do nothing;
  insert into dws.app_user (id, tenant_id, username, display_name, email, enabled, superuser, permissions)
    select ${uuid(`'user' || n`)}, ${TENANT}, 'user' || n, 'User Number ' || n, 'user' || n || '@example.org',
      true, n = 1, '["queries:create"]'
    from generate_series(1, 200) n on conflict do nothing;
  insert into dws.datasource (id, tenant_id, name, slug, owner_id, type)
    select ${uuid(`'datasource'`)}, ${TENANT}, 'Source', 'source', 'user:' || ${uuid(`'user1'`)}, 'postgres'
    on conflict do nothing;
  insert into dws.share (id, tenant_id, kind, resource_id, principal, access_level)
    select ${uuid(`'share'`)}, ${TENANT}, 'datasource', ${uuid(`'datasource'`)}, 'user:' || ${uuid(`'user2'`)}, 2
    on conflict do nothing;
  insert into dws.api_token (id, tenant_id, user_id, name, token_hash, prefix, scopes)
    select ${uuid(`'token' || n`)}, ${TENANT}, ${uuid(`'user' || n`)}, 'bench', hash, 'dws_bench', '["read", "write"]'
    from (values (1, '${hashOf(TOKENS.superuser)}'), (2, '${hashOf(TOKENS.ordinary)}')) t (n, hash)
    on conflict do nothing;`;

const QUERIES = (count: number) => `
  delete from dws.saved_query where slug not like 'job-%' or substr(slug, 5)::int > ${count};
  insert into dws.saved_query
    (id, tenant_id, name, slug, description, owner_id, datasource_id, query, created_at, updated_at)
    select ${uuid(`'job' || n`)}, ${TENANT},
      'Job ' || lpad(((n::bigint * 7919) % 1000003)::text, 7, '0') || ' of ' || n, 'job-' || n,
      'Synchronises source ' || n || ' every so often and tells its owner when that fails.',
      'user:' || ${uuid(`'user' || case when n % 2 = 0 then 2 else 1 + n % 200 end`)},
      ${uuid(`'datasource'`)}, 'select ' || n,
      '2024-01-01'::timestamptz + n * interval '1 minute', '2024-06-01'::timestamptz + n * interval '1 minute'
    from generate_series(1, ${count}) n on conflict do nothing;`;

/** The table that the raw server changes, with the same rows. */
const RAW = `
  create table if not exists raw_query (
    like dws.saved_query including defaults including indexes,
    foreign key (tenant_id) references dws.tenant (id),
    foreign key (datasource_id) references dws.datasource (id),
    foreign key (tenant_id, folder_id) references dws.folder (tenant_id, id));
  alter table raw_query alter id set default gen_random_uuid();
  truncate raw_query;
  insert into raw_query select * from dws.saved_query;`;

/** Inserts queries 1 to `count` and deletes all others. */
export async function fill(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // This role crosses tenants; only the owner of a table may vacuum it.
    await client.query('set role dws_system');
    await client.query(PEOPLE);
    await client.query(QUERIES(count));
    await client.query('reset role');
    await client.query(RAW);
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
}

if (import.meta.main) await fill(process.env['DATABASE_URL']!, Number(process.argv[2]));
