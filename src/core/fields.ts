/** Types of a dataset's fields (contract, section 7). `text` is a string with values past 8,000 characters. */
export const FIELD_TYPES = ['string', 'text', 'integer', 'number', 'boolean', 'date', 'datetime', 'json'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** A field so flagged holds values that a JSON number would spoil: it travels as exact strings. */
export type FieldFormat = 'int64' | 'decimal';

/** A field of a dataset, as clients see it. */
export interface Field {
  /** As the source spells it; a repeated name becomes `id_2`. */
  name: string;
  label: string;
  type: FieldType;
  format?: FieldFormat;
  description?: string;
  /** The source has it no longer: it was kept by a refresh with `syncFields=false` and is missing in every row. Saved filters that name it fit no more (contract 3). */
  vanished?: true;
}

/** How a source's values are written in its segments and staged before their final type is known. */
export type Storage =
  | { kind: 'boolean' | 'int32' | 'int64' | 'uint64' | 'float64' | 'text' | 'date' | 'timestamp' | 'json' }
  /** With `precision` (at most 38) a fixed decimal; without, digits of any length, staged as text and typed by what was seen. */
  | { kind: 'decimal'; precision?: number; scale?: number };

/** A column that a query answers with, before any row was read. */
export interface Column {
  name: string;
  type: FieldType;
  storage: Storage;
  /** The source's own word for the type, for error messages. */
  sourceType: string;
}

/** Names of columns as fields: the first of a repeated name keeps it, later ones become `id_2`, `id_3`, never a name that the source uses itself. */
export function distinctNames(names: readonly string[]): string[] {
  const spelled = new Set(names);
  const given = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let n = 2; given.has(own) || (own !== name && spelled.has(own)); n++) own = `${name}_${n}`;
    given.add(own);
    return own;
  });
}
