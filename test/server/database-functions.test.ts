import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { migrate } from '../../src/server/migrate.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';

const FUNCTIONS = `
  select proname as name, obj_description(oid, 'pg_proc') as remark, md5(prosrc) as body
  from pg_proc
  where pronamespace = 'dws'::regnamespace
  order by proname`;

test('every function of the database is created by its file in schema/functions', async () => {
  const database = await createDatabase();
  const functions = await runSql(database.url, FUNCTIONS);
  expect(functions.map(({ name }) => `${name}.sql`)).toEqual(readdirSync('schema/functions').toSorted());
  for (const { name, remark } of functions) expect(remark).toContain(`schema/functions/${name}.sql `);
  await database.drop();
});

test('a function whose file has changed since is replaced by the next start', async () => {
  const database = await createDatabase();
  const functions = await runSql(database.url, FUNCTIONS);
  await runSql(
    database.url,
    `create or replace function dws.usage_kept_since() returns timestamptz language sql stable as 'select now()';
    comment on function dws.usage_kept_since is 'schema/functions/usage_kept_since.sql of a former release';`,
  );
  expect(await runSql(database.url, FUNCTIONS)).not.toEqual(functions);
  await migrate(database.url);
  expect(await runSql(database.url, FUNCTIONS)).toEqual(functions);
  await database.drop();
});
