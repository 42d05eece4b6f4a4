/**
 * Types of a dataset's fields. `text` is a string with values past 8,000 characters. See
 * docs/contract/datasets.md#fields.
 */
export type FieldType = 'string' | 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'datetime' | 'json';

/** The format of a field whose numbers are sent as exact strings, because a JSON number would round them. */
export type FieldFormat = 'int64' | 'decimal';

/** A field of a dataset. */
export interface Field {
  /** Name as the source spells it; a repeated name becomes `id_2`. */
  name: string;
  label: string;
  type: FieldType;
  format?: FieldFormat;
  description?: string;
  /**
   * Set if the source no longer has the field. A refresh with `syncFields=false` leaves such a field in the list; it is
   * null in every row, and saved filters that name it are invalid.
   */
  vanished?: true;
}

/** The form in which a source's values are written to segments and staged until their final type is known. */
export type Storage =
  | { kind: 'boolean' | 'int32' | 'int64' | 'uint64' | 'float64' | 'text' | 'date' | 'timestamp' | 'json' }
  /** Integers that become booleans if all of them are 0 or 1. */
  | { kind: 'tinyint' }
  /**
   * With `precision` (at most 38), a fixed decimal. Without, digits of any length: staged as text, typed by the values.
   */
  | { kind: 'decimal'; precision?: number; scale?: number };

/** A column of a query's result, as the source describes it before any row is read. */
export interface Column {
  name: string;
  type: FieldType;
  storage: Storage;
  /** The source's name of the type, for error messages. */
  sourceType: string;
}

/**
 * Returns unique names for the columns of a query. The first column of a repeated name has the name itself; later ones
 * become `id_2`, `id_3` and so on, without repeating another column's name. A blank name becomes `column_3`, by its position.
 */
export function distinctNames(sourceColumns: readonly string[]): string[] {
  const names = sourceColumns.map((name, i) => (name.trim() === '' ? `column_${i + 1}` : name));
  const sourceNames = new Set(names);
  const used = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let n = 2; used.has(unique) || (unique !== name && sourceNames.has(unique)); n++) unique = `${name}_${n}`;
    used.add(unique);
    return unique;
  });
}
