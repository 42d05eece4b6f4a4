import type { BlockRows } from '../../../entities/report-data.ts';
import type { AggregateResult } from '../../core/dataset-index.ts';
import { distinctNames, type Field, type FieldFormat } from '../../core/fields.ts';

/** Result of a block's query on one of the datasets that the reference shows. */
export interface SourceResult<T> {
  /** Label of the snapshot. Null for current rows. */
  label: string | null;
  result: T;
}

/** Maximum number of groups of all datasets together. */
const MAX_GROUPS = 10_000;
const SNAPSHOT_FIELD = '_snapshot';

/**
 * Concatenates the rows of all datasets. With snapshots, a field `_snapshot` is added in front: the label of the
 * snapshot, null for current rows.
 */
export function mergeRows(results: readonly SourceResult<BlockRows>[], hasSnapshots: boolean): BlockRows {
  const fields = distinctByName(results.flatMap(({ result }) => result.fields));
  const total = results.reduce((sum, { result }) => sum + result.total, 0);
  if (!hasSnapshots) return { fields, rows: results.flatMap(({ result }) => result.rows), total };
  const snapshotField = snapshotFieldBeside(fields);
  const rows = results.flatMap(({ label, result }) =>
    result.rows.map((row) =>
      Object.fromEntries([
        [snapshotField.name, label],
        ...fields.map((field) => [field.name, valueIn(field, row[field.name])]),
      ]),
    ),
  );
  return { fields: [snapshotField, ...fields], rows, total };
}

/** Concatenates the groups of all datasets like `mergeRows`. Equal groups of different datasets stay separate. */
export function mergeGroups(results: readonly SourceResult<AggregateResult>[], hasSnapshots: boolean): AggregateResult {
  const columns = distinctByName(results.flatMap(({ result }) => result.columns));
  const rows = results.flatMap(({ label, result }) => {
    const indexes = columns.map(({ name }) => result.columns.findIndex((column) => column.name === name));
    return result.rows.map((row) => [
      ...(hasSnapshots ? [label] : []),
      ...indexes.map((index, i) => valueIn(columns[i]!, row[index])),
    ]);
  });
  return {
    columns: [...(hasSnapshots ? [snapshotFieldBeside(columns)] : []), ...columns],
    rows: rows.slice(0, MAX_GROUPS),
    total: results.reduce((sum, { result }) => sum + result.total, 0),
    truncated: rows.length > MAX_GROUPS || results.some(({ result }) => result.truncated),
  };
}

/**
 * Returns the columns with each name once, as first defined, with the format that one of them has. Snapshots may have
 * other fields than the dataset.
 */
function distinctByName<T extends { name: string; format?: FieldFormat }>(columns: readonly T[]): T[] {
  const formats = new Map(columns.flatMap(({ name, format }) => (format ? [[name, format] as const] : [])));
  const seen = new Set<string>();
  return columns
    .filter(({ name }) => !seen.has(name) && seen.add(name))
    .map((column) => (formats.has(column.name) ? { ...column, format: formats.get(column.name) } : column));
}

/** Returns a value as its column requires: a column with a format has texts. */
const valueIn = ({ format }: { format?: FieldFormat }, value: unknown): unknown =>
  format && typeof value === 'number' ? String(value) : (value ?? null);

/** Returns the field `_snapshot`, renamed if a column has that name. */
const snapshotFieldBeside = (columns: readonly { name: string }[]): Field => ({
  name: distinctNames([...columns.map(({ name }) => name), SNAPSHOT_FIELD]).at(-1)!,
  label: 'Snapshot',
  type: 'string',
});
