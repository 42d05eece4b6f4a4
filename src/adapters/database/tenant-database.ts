import type { MetadataStorage } from '@mikro-orm/core';
import { LostRace } from '../../core/database.ts';
import { unavailable } from '../../core/errors.ts';
import type { TenantDatabase } from '../../core/platform.ts';
import { discoverEntities } from './entity-metadata.ts';
import { EntityTable } from './entity-table.ts';
import { TenantPool } from './tenant-pool.ts';
import { TenantTransaction } from './tenant-transaction.ts';
import type { TableOf } from './unit-of-work.ts';

let discovered: MetadataStorage | undefined;

/** Opens the tenants' rows in Postgres: single statements, and transactions with a unit of work, on one pool. */
export function openTenantDatabase(
  url: string,
  size: number,
): TenantDatabase & { metadata: MetadataStorage; close(): Promise<void> } {
  const metadata = (discovered ??= discoverEntities());
  const pool = new TenantPool(url, size);
  const tableOf = createTables(metadata);
  return {
    metadata,
    query: (tenantId, statement) => pool.query(tenantId, statement),
    transaction: (tenantId, work) =>
      retryLostRaces((isRetry) => {
        const open = pool.transaction(tenantId);
        const tx = new TenantTransaction(tenantId, open, tableOf, isRetry);
        return open.run(async () => {
          const result = await work(tx);
          tx.flushAll();
          return result;
        });
      }),
    close: () => pool.close(),
  };
}

/** Each lost race is another transaction's success, so that only a steady stream of rivals needs this many attempts. */
const MAX_ATTEMPTS = 100;

async function retryLostRaces<T>(attempt: (isRetry: boolean) => Promise<T>): Promise<T> {
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts++) {
    try {
      return await attempt(attempts > 1);
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
    }
  }
  throw unavailable('Others change the same at this moment. Try again', { headers: { 'retry-after': '1' } });
}

/** Returns a function that returns the table of an entity. Builds each table once. */
function createTables(metadata: MetadataStorage): TableOf {
  const tables = new Map<unknown, EntityTable>();
  return ((type) => {
    let table = tables.get(type);
    if (!table) tables.set(type, (table = new EntityTable(metadata.get(type))));
    return table;
  }) as TableOf;
}
