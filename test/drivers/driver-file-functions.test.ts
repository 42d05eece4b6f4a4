import { describe, expect, test } from 'vitest';
import { ALLOWED_FUNCTIONS, ALLOWED_TABLE_FUNCTIONS } from '../../src/adapters/drivers/file/allowed-functions.ts';
import { DuckdbSession } from '../../src/adapters/drivers/file/duckdb-session.ts';
import { guardSelect } from '../../src/adapters/drivers/file/select-guard.ts';
import { rejectionOf } from '../support/uploaded-source.ts';
import { runDuckdb } from './driver-file-fixture.ts';

/** Functions that are refused, by what they do. `*` stands for any text. */
const REFUSED: Record<string, string> = {
  'reads the catalogue': `pg_* has_*_privilege col_description obj_description shobj_description format_type
    format_pg_type map_to_pg_oid get_block_size in_search_path current_catalog current_database current_schema
    current_schemas inet_*`,
  'reads settings, variables, statistics or the connection': `current_setting getvariable stats vector_type txid_current
    current_connection_id current_transaction_id current_query current_query_id current_role current_user session_user
    user version`,
  'changes the state of the server': 'nextval currval setseed write_log',
  waits: 'sleep_ms',
  'runs or plans SQL': 'json_serialize_sql json_deserialize_sql json_serialize_plan',
  'is an internal function': `__internal_* cast_to_type can_cast_implicitly combine constant_or_null create_sort_key
    finalize get_type icu_collate_* is_histogram_other_bin make_type parse_duckdb_log_message remap_struct replace_type
    st_crs st_setcrs timetz_byte_comparable variant_bytes_to_variant variant_normalize variant_to_parquet_variant`,
};

const refused = Object.values(REFUSED)
  .join(' ')
  .split(/\s+/)
  .map((name) => new RegExp(`^${name.replaceAll('*', '.*')}$`, 'i'));
const isRefused = (name: string) => refused.some((pattern) => pattern.test(name)) && name !== 'pg_typeof';

const functionsOf = async (types: string): Promise<string[]> =>
  (
    await runDuckdb(`select distinct lower(function_name) as name from duckdb_functions()
      where function_type in (${types}) order by name`)
  ).map(([name]) => String(name));

describe('the list of functions', () => {
  test('has every function of the installed DuckDB or refuses it here', async () => {
    const functions = await functionsOf(`'scalar', 'aggregate', 'macro'`);
    expect(functions.filter((name) => ALLOWED_FUNCTIONS.has(name) === isRefused(name))).toEqual([]);
  });

  test('has no function that DuckDB lacks', async () => {
    const functions = new Set(await functionsOf(`'scalar', 'aggregate', 'macro'`));
    // The binder resolves these itself.
    const bound = new Set(['current_date', 'unnest', '->']);
    expect([...ALLOWED_FUNCTIONS].filter((name) => !functions.has(name) && !bound.has(name))).toEqual([]);
    const tableFunctions = await functionsOf(`'table'`);
    expect(tableFunctions).toEqual(expect.arrayContaining([...ALLOWED_TABLE_FUNCTIONS]));
  });

  test('every function that is not on it is refused by its name', async () => {
    const session = await DuckdbSession.open([], '');
    const functions = (await functionsOf(`'scalar', 'aggregate', 'macro'`)).filter(
      (name) => !ALLOWED_FUNCTIONS.has(name),
    );
    const tableFunctions = (await functionsOf(`'table', 'table_macro', 'pragma'`)).filter(
      (name) => !ALLOWED_TABLE_FUNCTIONS.has(name),
    );
    expect(functions.length).toBeGreaterThan(200);
    expect(tableFunctions.length).toBeGreaterThan(100);
    const messages: string[] = [];
    for (const [text, message] of [
      ...functions.map((name) => [`select "${name}"()`, `The function ${name} is not available`]),
      ...tableFunctions.map((name) => [`from "${name}"()`, `The table function ${name} is not available`]),
    ] as [string, string][]) {
      const error = (await rejectionOf(guardSelect(session, text))) as { status: number; message: string };
      if (error?.status !== 400 || error.message !== message) messages.push(`${text}: ${error?.message}`);
    }
    expect(messages).toEqual([]);
  });
});
