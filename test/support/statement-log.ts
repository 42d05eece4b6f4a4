import type { Statement } from '../../src/core/database.ts';
import type { Service } from './service.ts';

/** Runs `work` and returns its result, and the statements outside transactions that tenants executed during it. */
export async function recordStatements<T>(
  { platform: { database } }: Service,
  work: () => Promise<T>,
): Promise<{ result: T; statements: (Statement & { tenantId: string })[] }> {
  const { query } = database;
  const statements: (Statement & { tenantId: string })[] = [];
  database.query = (tenantId, statement) => (
    statements.push({ ...statement, tenantId }),
    query.call(database, tenantId, statement) as never
  );
  try {
    return { result: await work(), statements };
  } finally {
    database.query = query;
  }
}
