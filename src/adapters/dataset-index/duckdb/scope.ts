import type { DuckDBValue } from '@duckdb/node-api';
import type { IndexedField, Search } from '../../../core/dataset-index.ts';
import { fieldFinder, matchesAll } from '../search-parts.ts';
import { compileCriteria } from './criteria-sql.ts';
import { rowsFile } from './generation-files.ts';
import { boundValues } from './sql-values.ts';
import type { SqlType } from './sql-values.ts';
import type { WordsSidecar } from './words-sidecar.ts';

/** What a search reads: its files, and the rows of them that match. */
export interface Scope {
  files: string[];
  /** Matches all rows of the generation. */
  everything: boolean;
  /** @throws badInput for a name that the generation does not have */
  field(name: string): IndexedField;
  /** The table of rows, given the files' aliases. */
  table(aliases: string[]): string;
  /** The condition of a row that matches; its values are appended to `values`. */
  where(aliases: string[], values: DuckDBValue[]): string;
  /** The words' part of it, as a select of row numbers; undefined when `where` looks at no words. */
  wordRows(aliases: string[], values: DuckDBValue[]): string | undefined;
}

/** Opens what a search reads. Building the words may take a while the first time. */
export async function openScope(
  dir: string,
  sidecar: WordsSidecar,
  search: Search,
  signal: AbortSignal,
): Promise<Scope> {
  const { generation, where, words, partial } = search;
  const field = fieldFinder(generation);
  const hides = partial && !matchesAll({ ...search, words: [] });
  const files = [rowsFile(dir, generation.id)];
  if (words.length > 0) files.push(await sidecar.file(generation, search.wordFields.map(field), signal));
  const holdsWords = (values: DuckDBValue[]) =>
    words.map((word) => `contains(q, ${boundValues(values).scalar(` ${word}`, 'VARCHAR')})`).join(' AND ');
  const wordRows = ([, sidecarAlias]: string[], values: DuckDBValue[]) =>
    words.length === 0 ? undefined : `SELECT rowid FROM ${sidecarAlias}.words WHERE ${holdsWords(values)}`;
  const matches = (values: DuckDBValue[]) =>
    compileCriteria(where, ({ name }) => field(name).column, boundValues(values));
  return {
    files,
    field,
    wordRows,
    everything: matchesAll(search),
    table: ([alias]) => `${alias}.data`,
    where: (aliases, values) => {
      const condition = matches(values);
      if (words.length === 0) return condition;
      if (!hides) return `${condition} AND rowid IN (${wordRows(aliases, values)})`;
      // Of a CASE the second part is looked at where the first holds, and nowhere else.
      const [data, sidecarAlias] = aliases;
      return `rowid IN (SELECT rowid FROM ${sidecarAlias}.words WHERE CASE WHEN rowid IN (SELECT rowid FROM ${data}.data WHERE ${condition}) THEN ${holdsWords(values)} ELSE false END)`;
    },
  };
}

/** The type in which `comparable` compares a field. */
export function comparedType({ type, format }: IndexedField): SqlType {
  switch (type) {
    case 'integer':
      return format ? 'DOUBLE' : 'BIGINT';
    case 'number':
      return 'DOUBLE';
    case 'boolean':
      return 'BOOLEAN';
    case 'date':
      return 'DATE';
    case 'datetime':
      return 'TIMESTAMP';
    default:
      return 'VARCHAR';
  }
}
