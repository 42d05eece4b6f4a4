import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { indexPlace, openIndex } from '../../adapters/dataset-index/open-index.ts';
import { createSecretBox } from '../../adapters/secrets/secret-box.ts';
import type { Config } from '../../core/config.ts';
import { keyRing } from '../app-secret.ts';
import { MIGRATIONS } from '../migrate.ts';
import { checkRoles, ROLES } from '../roles.ts';

/** 15 or newer. */
export async function postgresVersion(client: pg.Client): Promise<string> {
  const {
    rows: [found],
  } = await client.query<{ number: number; version: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version`,
  );
  if (found!.number < 150_000) throw new Error(`Postgres ${found!.version} is too old; 15 or newer is needed`);
  return `${found!.version} at ${client.host}:${client.port}`;
}

/** All of ours ran, and none that we do not know. */
export async function migrations(client: pg.Client): Promise<string> {
  const {
    rows: [table],
  } = await client.query(`select to_regclass('dws.migration') as found`);
  const ran = table.found
    ? (await client.query<{ name: string }>('select name from dws.migration')).rows.map(({ name }) => name)
    : [];
  const missing = MIGRATIONS.filter(({ name }) => !ran.includes(name)).map(({ name }) => name);
  if (missing.length)
    throw new Error(`${missing.join(', ')} did not run yet: run \`dws migrate\`, or start the service`);
  const newer = ran.filter((name) => !MIGRATIONS.some((known) => known.name === name));
  if (newer.length) throw new Error(`the database was migrated by a newer version of the service: ${newer.join(', ')}`);
  return `${ran.length} ran, none missing`;
}

/** Both roles exist, can be taken and are bound by row-level security, which every table of tenants has and forces. */
export async function rowSecurity(client: pg.Client): Promise<string> {
  for (const role of ROLES)
    await client.query(`begin; set local role ${role}; rollback`).catch(async ({ message }: Error) => {
      await client.query('rollback');
      throw new Error(`the role ${role} cannot be taken: ${message}`);
    });
  await checkRoles(client);
  const { rows } = await client.query<{
    name: string;
    guarded: boolean;
  }>(`select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as guarded from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' where c.relnamespace = to_regnamespace('dws') and c.relkind = 'r' order by 1`);
  const open = rows.filter(({ guarded }) => !guarded).map(({ name }) => name);
  if (!rows.length) throw new Error('there are no tables yet');
  if (open.length) throw new Error(`row-level security is not forced on ${open.join(', ')}`);
  return `${ROLES.join(' and ')}, row-level security forced on ${rows.length} tables`;
}

/** pg-boss installed its schema. */
export async function queue(client: pg.Client): Promise<string> {
  const {
    rows: [found],
  } = await client.query(
    `select to_regclass('dws_jobs.job') is not null and to_regclass('dws_jobs.queue') is not null as there`,
  );
  if (!found.there) throw new Error('the schema dws_jobs is missing; the first start makes it');
  const {
    rows: [open],
  } = await client.query(`select count(*)::int as count from dws.operation where finished_at is null`);
  return `there, ${open.count} operations open`;
}

/** Like the start, but without noting a newer key or making one up. */
export async function keys(client: pg.Client, { APP_SECRET, DATA_DIR }: Config): Promise<string> {
  const {
    rows: [stored],
  } = await client.query<{ value: string }>(`select value from dws.setting where name = 'key'`);
  if (!stored) return 'the database was not used with any key yet';
  if (!APP_SECRET && !existsSync(join(DATA_DIR, 'secret')))
    throw new Error(
      `APP_SECRET is unset and ${join(DATA_DIR, 'secret')} is gone: what the database keeps encrypted cannot be read`,
    );
  const { fingerprints } = createSecretBox(keyRing(APP_SECRET, DATA_DIR));
  if (!fingerprints.includes(stored.value))
    throw new Error('APP_SECRET does not hold the key that this database was used with');
  return `fits, ${fingerprints.length === 1 ? 'one key' : `${fingerprints.length} keys`}`;
}

/** The index answers and has the rows of every dataset. */
export async function index(client: pg.Client, config: Config): Promise<string> {
  const {
    rows: [installation],
  } = await client.query<{ value: string }>(`select value from dws.setting where name = 'installation'`);
  if (!installation) return 'not used yet';
  const place = indexPlace(config, installation.value);
  const where = place.engine ? 'the search engine' : place.dir;
  const rows = await openIndex(place);
  try {
    await rows.ping();
    const present = new Set((await rows.generations()).filter(({ complete }) => complete).map(({ id }) => id));
    const { rows: datasets } = await client.query<{ slug: string; id: string }>(
      'select slug, generation_id as id from dws.dataset where generation_id is not null order by slug',
    );
    const lost = datasets.filter(({ id }) => !present.has(id)).map(({ slug }) => slug);
    if (lost.length)
      throw new Error(`the rows of ${lost.length} datasets are not in ${where}, e.g. of "${lost[0]}"; refresh them`);
    return `${where} answers, ${datasets.length} datasets with rows`;
  } finally {
    await rows.close();
  }
}
