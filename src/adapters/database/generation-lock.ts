import pg from 'pg';

/** The key of the advisory lock that whoever makes a generation holds until it is published; `$1` is the generation's id. The janitor spares what is locked. */
export const GENERATION_LOCK = `hashtextextended('dws.generation:' || $1, 0)`;

/** Locks a generation in the making on a connection of its own: the lock ends with it, whatever becomes of the process. */
export async function holdGeneration(databaseUrl: string, id: string, application: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: application, keepAlive: true });
  await client.connect();
  await client.query(`select pg_advisory_lock(${GENERATION_LOCK})`, [id]);
  return client;
}
