import pg from 'pg';

/** Returns every row of every table of a database as text, after the name of its table. */
export async function dumpDatabase(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ text: string }>(`select to_jsonb(t)::text as text from ${name} t`);
    texts.push(...rows.map(({ text }) => `${name} ${text}`));
  }
  await client.end();
  return texts;
}
