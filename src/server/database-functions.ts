import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { PACKAGE_ROOT } from './package-root.ts';

const FOLDER = join(PACKAGE_ROOT, 'schema/functions');

/** A function of the database, which a file of schema/functions creates. */
interface DatabaseFunction {
  name: string;
  sql: string;
  /** Comment of the function in the database: which text has created it. */
  remark: string;
}

const readFunctions = (): DatabaseFunction[] =>
  readdirSync(FOLDER).map((file) => {
    const sql = readFileSync(join(FOLDER, file), 'utf8');
    const digest = createHash('sha256').update(sql).digest('hex');
    return { name: file.replace(/\.sql$/, ''), sql, remark: `schema/functions/${file} ${digest}` };
  });

/**
 * Replaces the functions of schema `dws` whose file in schema/functions has changed, in one transaction. All migrations
 * must have run. Returns the names of the replaced functions.
 */
export async function replaceFunctions(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ remark: string | null }>(
    `select obj_description(oid, 'pg_proc') as remark from pg_proc where pronamespace = 'dws'::regnamespace`,
  );
  const present = new Set(rows.map(({ remark }) => remark));
  const changed = readFunctions().filter(({ remark }) => !present.has(remark));
  if (changed.length === 0) return [];
  const statements = changed.map(
    ({ name, sql, remark }) => `${sql}\ncomment on function dws.${name} is ${client.escapeLiteral(remark)};`,
  );
  // Functions in SQL may call functions that come later.
  await client.query(['begin', 'set local check_function_bodies = off', ...statements, 'commit'].join(';\n'));
  return changed.map(({ name }) => name);
}
