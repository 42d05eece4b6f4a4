import type pg from 'pg';
import { indexLocation, openIndex } from '../../adapters/dataset-index/open-index.ts';
import type { Config } from '../../core/config.ts';
import { appliedMigrations, MIGRATIONS, missingMigrations } from '../migrate.ts';
import { checkRoles, ROLES } from '../roles.ts';

/** Checks that Postgres is version 15 or newer. */
export async function checkPostgresVersion(client: pg.Client): Promise<string> {
  const {
    rows: [found],
  } = await client.query<{ number: number; version: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version`,
  );
  if (found!.number < 150_000) throw new Error(`Postgres ${found!.version} is too old; 15 or newer is required`);
  return `${found!.version} at ${client.host}:${client.port}`;
}

/** Checks that all migrations of this version ran, and no others. */
export async function checkMigrations(client: pg.Client): Promise<string> {
  const ran = await appliedMigrations(client);
  const missing = await missingMigrations(client);
  if (missing.length) throw new Error(`${missing.join(', ')} did not run: run \`dws migrate\`, or start the service`);
  const newer = ran.filter((name) => !MIGRATIONS.includes(name));
  if (newer.length) throw new Error(`the database was migrated by a newer version of the service: ${newer.join(', ')}`);
  return `${ran.length} ran, none missing`;
}

/**
 * Checks that both roles can be assumed, and that row-level security applies to them and is forced on every table with
 * tenants.
 */
export async function checkRowSecurity(client: pg.Client): Promise<string> {
  for (const role of ROLES)
    await client.query(`begin; set local role ${role}; rollback`).catch(async ({ message }: Error) => {
      await client.query('rollback');
      throw new Error(`the role ${role} cannot be assumed: ${message}`);
    });
  await checkRoles(client);
  const { rows } = await client.query<{ name: string; guarded: boolean }>(`
    select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as guarded
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = to_regnamespace('dws') and c.relkind = 'r'
    order by 1`);
  const unguarded = rows.filter(({ guarded }) => !guarded).map(({ name }) => name);
  if (!rows.length) throw new Error('there are no tables yet');
  if (unguarded.length) throw new Error(`row-level security is not forced on ${unguarded.join(', ')}`);
  return `${ROLES.join(' and ')}, row-level security forced on ${rows.length} tables`;
}

/** Checks that pg-boss has installed its schema. */
export async function checkQueue(client: pg.Client): Promise<string> {
  const {
    rows: [found],
  } = await client.query(
    `select to_regclass('dws_jobs.job') is not null and to_regclass('dws_jobs.queue') is not null as installed`,
  );
  if (!found.installed) return 'not there yet; the first start creates it';
  const {
    rows: [open],
  } = await client.query(`select count(*)::int as count from dws.operation where finished_at is null`);
  return `installed, ${open.count} open operations`;
}

/** Counts the connections of libraries and toolkits by their status, and the libraries whose last sync failed. */
export async function countConnections(client: pg.Client): Promise<string> {
  // Row-level security hides the rows from a login that is not a superuser.
  await client.query('begin; set local role dws_system');
  try {
    const {
      rows: [found],
    } = await client.query<{ connected: number; expired: number; failed: number }>(`
      select count(*) filter (where status = 'connected')::int as connected,
        count(*) filter (where status = 'expired')::int as expired,
        (select count(*)::int from dws.library where last_sync->>'success' = 'false') as failed
      from dws.connection`);
    const { connected, expired, failed } = found!;
    return `${connected} connected, ${expired} expired; ${failed} libraries whose last sync failed`;
  } finally {
    await client.query('rollback');
  }
}

/** Checks that the index responds and contains the rows of every dataset. */
export async function checkIndex(client: pg.Client, config: Config): Promise<string> {
  const {
    rows: [installation],
  } = await client.query<{ value: string }>(`select value from dws.setting where name = 'installation'`);
  if (!installation) return 'not used yet';
  const location = indexLocation(config, installation.value);
  const where = location.engine ? 'the search engine' : location.dir;
  const rows = await openIndex(location);
  try {
    await rows.ping();
    const present = new Set((await rows.generations()).filter(({ complete }) => complete).map(({ id }) => id));
    const { rows: datasets } = await client.query<{ slug: string; id: string }>(
      'select slug, generation_id as id from dws.dataset where generation_id is not null order by slug',
    );
    const missing = datasets.filter(({ id }) => !present.has(id)).map(({ slug }) => slug);
    if (missing.length)
      throw new Error(
        `the rows of ${missing.length} datasets are missing in ${where}, e.g. of "${missing[0]}"; refresh them`,
      );
    return `${where} responds, ${datasets.length} datasets with rows`;
  } finally {
    await rows.close();
  }
}

/** Counts the tenants by the outcome of their last sync with the license manager. */
export async function checkCreditSync(client: pg.Client, { LICENSE_MANAGER_URL: url }: Config): Promise<string> {
  if (url === undefined) return 'no license manager';
  await client.query('begin; set local role dws_system');
  try {
    const {
      rows: [found],
    } = await client.query<{ synced: number; failed: number; codes: string | null; missing: number }>(`
      select count(s.synced_at) filter (where s.failed_at is null)::int as synced,
        count(s.failed_at)::int as failed, string_agg(distinct s.failure_code, ', ') as codes,
        count(*) filter (where s.synced_at is null and s.failed_at is null)::int as missing
      from dws.tenant t
      left join dws.credit_sync s on s.tenant_id = t.id`);
    const { synced, failed, codes, missing } = found!;
    if (failed > 0) throw new Error(`the last sync of ${failed} tenants with the license manager failed: ${codes}`);
    return `${synced} tenants synced with the license manager, ${missing} not yet`;
  } finally {
    await client.query('rollback');
  }
}
