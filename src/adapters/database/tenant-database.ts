import { CompiledQuery } from 'kysely';
import type { SqlRow, Statement } from '../../core/database.ts';
import type { TenantDatabase, Transaction } from '../../core/platform.ts';
import { MikroORM, ormOptions } from './orm.ts';
import { RowChangeRecorder } from './row-changes.ts';
import { TenantPool } from './tenant-pool.ts';

/**
 * Opens the tenants' rows in Postgres: single statements on the pool, units of work through MikroORM on the same pool.
 */
export async function openTenantDatabase(
  url: string,
  size: number,
): Promise<TenantDatabase & { orm: MikroORM; close(): Promise<void> }> {
  const pool = new TenantPool(url, size);
  const changes = new RowChangeRecorder();
  const orm = await MikroORM.init(
    ormOptions({ clientUrl: url, driverOptions: pool.dialect(), subscribers: [changes] }),
  );

  const transaction = <T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> =>
    pool.within(tenantId, () => {
      const em = orm.em.fork();
      em.setFilterParams('tenant', { tenantId });
      return em.transactional((open) =>
        work({
          em: open,
          // Pending changes are flushed first, so that Postgres runs everything in the order of the code.
          query: async <R extends SqlRow>({ text, values = [] }: Statement) => {
            await open.flush();
            return (await open.getKysely().executeQuery(CompiledQuery.raw(text, values))).rows as R[];
          },
          changes: () => changes.changesOf(open.getUnitOfWork()),
        }),
      );
    });

  return {
    orm,
    query: (tenantId, statement) => pool.query(tenantId, statement),
    transaction,
    close: async () => {
      await orm.close(true);
      await pool.close();
    },
  };
}
