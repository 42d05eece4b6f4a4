import pg from 'pg';

/**
 * The key of the advisory lock of a generation that is being built, until it is published. `$1` is the generation's id.
 * The janitor deletes no locked generation.
 */
export const GENERATION_LOCK = `hashtextextended('dws.generation:' || $1, 0)`;

/**
 * Locks a generation on a new connection and returns the connection. The lock ends with it, even if the process is
 * killed.
 */
export async function acquireGenerationLock(databaseUrl: string, id: string, application: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: application, keepAlive: true });
  await client.connect();
  await client.query(`select pg_advisory_lock(${GENERATION_LOCK})`, [id]);
  return client;
}
