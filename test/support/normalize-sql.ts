/** Removes the line breaks and indentation of an SQL text, so that a test can show it a clause a line. */
export const normalizeSql = (sql: string): string =>
  sql.replace(/\s+/g, ' ').replace(/\( /g, '(').replace(/ \)/g, ')').trim();
