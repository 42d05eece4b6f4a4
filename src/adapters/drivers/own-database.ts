import type { SystemDatabase } from '../../core/platform.ts';
import { DATABASE_IDENTITY_SQL, type DatabaseIdentity } from './source-guard.ts';

/** Returns the identity of the service's own database, which no datasource may use. Throws what the query throws. */
export async function readOwnDatabase(system: SystemDatabase): Promise<DatabaseIdentity | null> {
  const [own] = await system.query<DatabaseIdentity & Record<string, unknown>>({ text: DATABASE_IDENTITY_SQL });
  return own ?? null;
}
