import type { Service } from './service.ts';

/** Runs `work` and returns the statements that tenants' reads executed meanwhile. */
export async function counted<T>(
  { platform: { database } }: Service,
  work: () => Promise<T>,
): Promise<{ answer: T; statements: string[] }> {
  const { query } = database;
  const statements: string[] = [];
  database.query = (tenantId, statement) => (
    statements.push(statement.text),
    query.call(database, tenantId, statement) as never
  );
  try {
    return { answer: await work(), statements };
  } finally {
    database.query = query;
  }
}
