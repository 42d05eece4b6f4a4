import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTenantDatabase } from '../../src/adapters/database/tenant-database.ts';
import { readConfig } from '../../src/core/config.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { openBackup, restoreBackup } from '../../src/server/backup/restore.ts';
import { meter } from '../../src/services/usage/usage-meter.ts';
import { APP_SECRET, withInstallation } from '../support/backup-fixture.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder } from '../support/service-process.ts';
import { usageOf } from '../support/usage-fixture.ts';

/** Meters in the tenant of a database. */
async function meterAt(url: string, tenantId: string, keys: readonly string[]): Promise<void> {
  const database = openTenantDatabase(url, 1);
  const usage = keys.map((key) => usageOf(key, { quantity: '12.345678912', metadata: { key } }));
  await database.transaction(tenantId, async (tx) => meter({ tenantId }, tx, usage));
  await database.close();
}

const rowsOf = (url: string, table: string) =>
  runSql(url, `select to_json(t)::text as row from dws.${table} t order by 1`);

test('a backup contains the ledger and its totals, and a restore guards them again', async () => {
  await withInstallation(async ({ database, config, away }) => {
    const [tenant] = await runSql(database.url, 'select id from dws.tenant');
    const tenantId = tenant!['id'] as string;
    await meterAt(database.url, tenantId, ['job:1', 'job:2']);
    const archive = join(away, 'ledger.backup');
    await writeBackup(database.url, config, archive);

    const [target, folder] = [await createDatabase('template0'), newFolder()];
    await restoreBackup(target.url, readConfig({ DATA_DIR: folder.path, APP_SECRET }), await openBackup(archive));
    for (const table of ['usage_event', 'usage_day']) {
      const rows = await rowsOf(database.url, table);
      expect(rows.length, table).toBeGreaterThan(0);
      expect(await rowsOf(target.url, table), table).toEqual(rows);
    }
    await expect(runSql(target.url, 'update dws.usage_event set credits = 0')).rejects.toThrow('append-only');
    await expect(runSql(target.url, 'delete from dws.usage_event')).rejects.toThrow('append-only');
    await meterAt(target.url, tenantId, ['job:2', 'job:3']);
    expect(
      await runSql(
        target.url,
        `select sum(credits)::text as credits, sum(quantity)::text as quantity, sum(events)::int as events
       from dws.usage_day`,
      ),
    ).toEqual([{ credits: '0.370371', quantity: '37.037036736', events: 3 }]);
    folder.remove();
    await target.drop();
  });
});
