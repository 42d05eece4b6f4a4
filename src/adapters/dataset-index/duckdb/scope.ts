import type { DuckDBValue } from '@duckdb/node-api';
import type { IndexedField, Search } from '../../../core/dataset-index.ts';
import type { Caller } from '../../../core/fair-gate.ts';
import { fieldFinder, matchesAll } from '../search-parts.ts';
import { compileCriteria } from './criteria-sql.ts';
import { rowsFile } from './generation-files.ts';
import { boundValues } from './sql-values.ts';
import type { WordsSidecar } from './words-sidecar.ts';

/** The files that a search reads, and the condition of its rows. */
export interface Scope {
  files: string[];
  caller: Caller;
  /** Whether it matches all rows of the generation. */
  everything: boolean;
  /** Returns a field by name. Throws BAD_USER_INPUT for an unknown name. */
  field(name: string): IndexedField;
  /** Returns the table of rows, for these aliases of the files. */
  table(aliases: string[]): string;
  /** Returns the condition of matching rows and appends its values to `values`. */
  where(aliases: string[], values: DuckDBValue[]): string;
  /** Returns the part of the condition about words, as a select of row numbers; undefined without words. */
  wordRows(aliases: string[], values: DuckDBValue[]): string | undefined;
}

/** Opens the files of a search. Building the words can be slow the first time. */
export async function openScope(
  dir: string,
  sidecar: WordsSidecar,
  search: Search,
  signal: AbortSignal,
): Promise<Scope> {
  const { generation, where, words, partial, caller } = search;
  const field = fieldFinder(generation);
  const hides = partial && !matchesAll({ ...search, words: [] });
  const files = [rowsFile(dir, generation.id)];
  if (words.length > 0) files.push(await sidecar.file(generation, search.wordFields.map(field), caller, signal));
  const holdsWords = (values: DuckDBValue[]) =>
    words.map((word) => `contains(q, ${boundValues(values).scalar(` ${word}`, 'VARCHAR')})`).join(' AND ');
  const wordRows = ([, sidecarAlias]: string[], values: DuckDBValue[]) =>
    words.length === 0 ? undefined : `SELECT rowid FROM ${sidecarAlias}.words WHERE ${holdsWords(values)}`;
  const matches = (values: DuckDBValue[]) =>
    compileCriteria(where, ({ name }) => field(name).column, boundValues(values));
  return {
    files,
    caller,
    field,
    wordRows,
    everything: matchesAll(search),
    table: ([alias]) => `${alias}.data`,
    where: (aliases, values) => {
      const condition = matches(values);
      if (words.length === 0) return condition;
      if (!hides) return `${condition} AND rowid IN (${wordRows(aliases, values)})`;
      // The second part of a CASE is evaluated only where the first is true.
      const [data, sidecarAlias] = aliases;
      return `rowid IN (
        SELECT rowid FROM ${sidecarAlias}.words
        WHERE CASE WHEN rowid IN (SELECT rowid FROM ${data}.data WHERE ${condition})
          THEN ${holdsWords(values)} ELSE false END)`;
    },
  };
}
