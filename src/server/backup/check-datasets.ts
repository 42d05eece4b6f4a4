import type pg from 'pg';
import { findForeignObject } from '../../adapters/dataset-index/duckdb/check-rows-file.ts';
import { quoteUpstream } from '../../core/outbound.ts';
import { reasonOf } from '../start-checks.ts';
import { quoteName } from './entry-content.ts';

/** Throws unless the restored part at `path` is a file as loads write it: a view in it would run SQL of its author. */
export async function checkRowsFile(name: string, path: string): Promise<void> {
  const found = await findForeignObject(path).catch((error: unknown) => {
    const reason = quoteUpstream(reasonOf(error).replaceAll(path, name));
    throw new Error(`The part ${quoteName(name)} of the backup cannot be restored: ${reason}`, { cause: error });
  });
  if (found) throw new Error(`The part ${quoteName(name)} of the backup cannot be restored: it has ${found}`);
}

/** Throws if fields name other columns than loads create: the names are part of statements of the index. */
export async function checkColumnNames(client: pg.Client, tables: ReadonlySet<string>): Promise<void> {
  for (const table of ['generation', 'refresh_preview'].filter((name) => tables.has(name))) {
    const { rowCount } = await client.query(`select
      from dws.${table} t,
        jsonb_array_elements(case jsonb_typeof(t.fields) when 'array' then t.fields else '[]' end) field
      where field ? 'column'
        and (jsonb_typeof(field -> 'column') <> 'string' or field ->> 'column' !~ '^c[0-9]{1,6}$')
      limit 1`);
    if (rowCount) throw new Error(`The table "${table}" of the backup cannot be restored: a field has a wrong column`);
  }
}
