import type { IndexedField } from '../../../core/dataset-index.ts';

/** Returns a number's digits without the zeros that only its column's scale adds. */
export const exactText = (sql: string) => {
  const text = `CAST(${sql} AS VARCHAR)`;
  return `CASE WHEN contains(${text}, '.') AND NOT contains(${text}, 'e') THEN rtrim(rtrim(${text}, '0'), '.') ELSE ${text} END`;
};

/** Returns a time as ISO 8601 in UTC with milliseconds. */
export const isoText = (sql: string) => `strftime(${sql}, '%Y-%m-%dT%H:%M:%S.%gZ')`;

/** Returns SQL that `json_object` prints as the JSON form of the field's value (core/dataset-index.ts, `Row`). */
export function jsonForm(field: Pick<IndexedField, 'type' | 'format'>, sql: string): string {
  switch (field.type) {
    case 'integer':
      return field.format ? `CAST(${sql} AS VARCHAR)` : sql;
    // DuckDB prints a DECIMAL's digits as a JSON number, which is exact where its cast to DOUBLE is not.
    case 'number':
      return field.format ? exactText(sql) : sql;
    case 'date':
      return `CAST(${sql} AS VARCHAR)`;
    case 'datetime':
      return isoText(sql);
    default:
      return sql;
  }
}
