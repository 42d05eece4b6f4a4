import { DuckDBInstance } from '@duckdb/node-api';

/** Statements that return more than 0, or true, for a rows file that is refused for this reason. */
const FORBIDDEN: [what: string, sql: string][] = [
  ['a view', 'select count(*) from duckdb_views() where not internal'],
  ['a macro', 'select count(*) from duckdb_functions() where not internal'],
  ['a sequence', 'select count(*) from duckdb_sequences()'],
  ['a type', 'select count(*) from duckdb_types() where not internal'],
  ['an index', 'select count(*) from duckdb_indexes()'],
  ['a schema', "select count(*) from duckdb_schemas() where not internal and schema_name <> 'main'"],
  [
    'another table than "data"',
    `select count(*) from duckdb_tables() where not internal and (schema_name <> 'main' or table_name <> 'data')`,
  ],
  ['a constraint', 'select count(*) from duckdb_constraints()'],
  [
    'a column with another name',
    `select count(*) from duckdb_columns() where not internal and not regexp_full_match(column_name, 'c[0-9]{1,6}')`,
  ],
  [
    'a column with a default or an expression',
    'select count(*) from duckdb_columns() where not internal and column_default is not null',
  ],
  [
    'no table "data"',
    `select count(*) = 0 from duckdb_tables() where not internal and schema_name = 'main' and table_name = 'data'`,
  ],
];

/**
 * Returns what a file of rows from elsewhere has that no load writes, e.g. `a view`, or undefined. The file is opened
 * read-only, without extensions and access to other files. Throws the error of DuckDB if it is not a database.
 */
export async function findForeignObject(path: string): Promise<string | undefined> {
  const instance = await DuckDBInstance.create(path, {
    access_mode: 'READ_ONLY',
    memory_limit: '256MiB',
    threads: '1',
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    enable_external_access: 'false',
    lock_configuration: 'true',
  });
  try {
    const connection = await instance.connect();
    try {
      for (const [what, sql] of FORBIDDEN) {
        const [found] = (await connection.runAndReadAll(sql)).getRows();
        if (Number(found![0]) > 0) return what;
      }
      return undefined;
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}
