import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { newId } from '../../src/core/id.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { openBackup, restoreBackup } from '../../src/server/backup/restore.ts';
import { migrate, MIGRATIONS } from '../../src/server/migrate.ts';
import { APP_SECRET, withInstallation } from '../support/backup-fixture.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder } from '../support/service-process.ts';

const BEFORE = MIGRATIONS[MIGRATIONS.indexOf('m053-usage-profile') - 1]!;

/** Returns the profiles of all tenants. */
const profilesIn = (url: string) =>
  runSql(
    url,
    `select t.slug as tenant, p.slug, p.credit_cap_per_month as cap, p.allowed_model_tiers as tiers, p.is_default, p.system
    from dws.tenant t left join dws.usage_profile p on p.tenant_id = t.id
    order by t.slug, p.created_at`,
  );

const seedsOf = (tenant: string) => [
  { tenant, slug: 'standard', cap: 1000, tiers: ['everyday', 'advanced'], is_default: true, system: true },
  { tenant, slug: 'premium', cap: null, tiers: ['everyday', 'advanced', 'strategic'], is_default: false, system: true },
];

const addTenant = (url: string, slug: string) =>
  runSql(url, `set role dws_system; insert into dws.tenant (id, slug) values ('${newId()}', '${slug}')`);

describe('the profiles of the system', () => {
  test('exist for tenants before and after the migration, even with an owner who is not a superuser', async () => {
    const database = await createDatabase('template0');
    const role = `owner_${database.url.split('_').at(-1)}`;
    await runSql(database.url, `create role ${role} login createrole password 'secret'`);
    await runSql(
      database.url,
      `alter database ${new URL(database.url).pathname.slice(1)} owner to ${role}; grant dws_app, dws_system to ${role}`,
    );
    const url = database.url.replace(/\/\/[^@]+@/, `//${role}:secret@`);
    await migrate(url, { last: BEFORE });
    await addTenant(url, 'old');
    await addTenant(url, 'older');
    await migrate(url);
    await addTenant(url, 'young');
    expect(await profilesIn(database.url)).toEqual(['old', 'older', 'young'].flatMap(seedsOf));
    await database.drop();
  });

  test('are restored as they were, once, and given to tenants after that', async () => {
    await withInstallation(async ({ database, config, away }) => {
      await runSql(
        database.url,
        `set role dws_system; update dws.usage_profile set name = 'Base', credit_cap_per_month = 5, is_default = false
        where slug = 'standard'`,
      );
      await runSql(
        database.url,
        `set role dws_system; update dws.usage_profile set is_default = true where slug = 'premium'`,
      );
      const archive = join(away, 'profiles.backup');
      await writeBackup(database.url, config, archive);
      const [target, folder] = [await createDatabase('template0'), newFolder()];
      await restoreBackup(target.url, readConfig({ DATA_DIR: folder.path, APP_SECRET }), await openBackup(archive));
      expect(await profilesIn(target.url)).toEqual(await profilesIn(database.url));
      await addTenant(target.url, 'young');
      expect((await profilesIn(target.url)).filter(({ tenant }) => tenant === 'young')).toEqual(seedsOf('young'));
      folder.remove();
      await target.drop();
    });
  });

  test('are given to the tenants of a backup from before the migration', async () => {
    const [from, to, folder] = [await createDatabase('template0'), await createDatabase('template0'), newFolder()];
    const config = readConfig({ DATA_DIR: folder.path, APP_SECRET });
    await migrate(from.url, { last: BEFORE });
    await addTenant(from.url, 'acme');
    const archive = join(folder.path, 'former.backup');
    await writeBackup(from.url, config, archive);
    await restoreBackup(to.url, config, await openBackup(archive));
    expect(await profilesIn(to.url)).toEqual(seedsOf('acme'));
    folder.remove();
    await Promise.all([from.drop(), to.drop()]);
  });
});
