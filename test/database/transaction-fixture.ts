import { Tag } from '../../entities/tag.ts';
import { openTenantDatabase } from '../../src/adapters/database/tenant-database.ts';
import { newRow } from '../../src/core/new-row.ts';
import { test as base } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';

interface Fixtures {
  /** A database on one connection. */
  database: ReturnType<typeof openTenantDatabase>;
  tenantId: string;
}

export const test = base.extend<Fixtures>({
  database: [
    async ({ service }, use) => {
      const database = openTenantDatabase(service.databaseUrl, 1);
      await use(database);
      await database.close();
    },
    { scope: 'file' },
  ],
  tenantId: [
    async ({ service }, use) => {
      const [tenant] = await systemQuery<{ id: string }>(service, `select id from dws.tenant where slug = 'default'`);
      await use(tenant!.id);
    },
    { scope: 'file' },
  ],
});

export const tagOf = (tenantId: string, name: string): Tag =>
  newRow(Tag, { tenantId, name, color: null, description: null, creatorId: null });
