import type { DuckDBValue } from '@duckdb/node-api';
import { ALL } from '../../../core/criteria/tree.ts';
import type { CriteriaNode } from '../../../core/criteria/tree.ts';
import type { IndexedField, Search } from '../../../core/dataset-index.ts';
import type { Caller } from '../../../core/fair-gate.ts';
import { fieldFinder, isAll, matchesAll } from '../search-parts.ts';
import { COMPARED_VALUES, compileCriteria, joinsLists } from './criteria-sql.ts';
import { rowsFile } from './generation-files.ts';
import { boundValues } from './sql-values.ts';
import { opaque, visibleFirst } from './visible-first.ts';
import type { WordsSidecar } from './words-sidecar.ts';

/** The files that a search reads, and the condition of its rows. */
export interface Scope {
  files: string[];
  caller: Caller;
  /** Whether it matches all rows of the generation. */
  everything: boolean;
  /** Whether a select of matching rows returns them in their order. */
  inOrder: boolean;
  /**
   * Returns a field by name, with the SQL by which a question reads its column. Throws BAD_USER_INPUT for an unknown
   * name.
   */
  field(name: string): IndexedField;
  /** Returns a field by name, with its physical column. */
  stored(name: string): IndexedField;
  /** Returns the table of rows, for these aliases of the files. */
  table(aliases: string[]): string;
  /** Returns the condition of matching rows that also fulfil `further`, and appends its values to `values`. */
  where(aliases: string[], values: DuckDBValue[], further?: string[]): string;
  /**
   * Returns a select of the numbers of all matching rows and appends its values to `values`; undefined unless only the
   * words decide which rows match.
   */
  wordRows(aliases: string[], values: DuckDBValue[]): string | undefined;
}

/** Opens the files of a search. Building the words can be slow the first time. */
export async function openScope(
  dir: string,
  sidecar: WordsSidecar,
  search: Search,
  signal: AbortSignal,
): Promise<Scope> {
  const { generation, caller, visible = ALL, where, words } = search;
  const stored = fieldFinder(generation);
  const restricted = !isAll(visible);
  const field = restricted ? (name: string) => ({ ...stored(name), column: opaque(stored(name).column) }) : stored;
  const files = [rowsFile(dir, generation.id)];
  if (words.length > 0) files.push(await sidecar.file(generation, search.wordFields.map(stored), caller, signal));

  const table = ([data]: string[]) => `${data}.data`;
  const criteria = (node: CriteriaNode, find: typeof field, values: DuckDBValue[], inlineValues?: number) =>
    isAll(node) ? [] : [compileCriteria(node, ({ name }) => find(name).column, boundValues(values), inlineValues)];
  const hasWords = (values: DuckDBValue[], column = 'q') =>
    words.map((word) => `contains(${column}, ${boundValues(values).scalar(` ${word}`, 'VARCHAR')})`).join(' AND ');
  const rowsWithWords = ([, sidecarAlias]: string[], values: DuckDBValue[]) =>
    `SELECT rowid FROM ${sidecarAlias}.words WHERE ${hasWords(values)}`;

  const whereAll = (aliases: string[], values: DuckDBValue[], further: string[]) => {
    const conditions = [...criteria(where, stored, values), ...further];
    if (words.length > 0) conditions.push(`rowid IN (${rowsWithWords(aliases, values)})`);
    return conditions.join(' AND ') || 'true';
  };
  const whereVisible = (aliases: string[], values: DuckDBValue[], further: string[]) => {
    const [rule = 'true'] = criteria(visible, stored, values);
    // DuckDB would join a longer inline list with all rows, but applies the rule below the join of a bound list.
    const question = [...criteria(where, field, values, COMPARED_VALUES), ...further];
    const rows = visibleFirst(rule, question);
    if (words.length === 0) return rows;
    return `rowid IN (
      SELECT rowid FROM ${aliases[1]}.words
      WHERE CASE WHEN rowid IN (SELECT rowid FROM ${table(aliases)} WHERE ${rows})
        THEN ${hasWords(values, opaque('q'))} ELSE false END)`;
  };
  return {
    files,
    caller,
    field,
    stored,
    everything: matchesAll(search),
    inOrder: words.length === 0 && !joinsLists(visible) && !joinsLists(where),
    table,
    where: (aliases, values, further = []) => (restricted ? whereVisible : whereAll)(aliases, values, further),
    wordRows: (aliases, values) =>
      words.length > 0 && isAll(where) && !restricted ? rowsWithWords(aliases, values) : undefined,
  };
}
