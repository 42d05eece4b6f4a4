/** Maximum number of columns that are counted: sources limit the length of a select list. */
const MAX_COUNTED_COLUMNS = 1000;

/**
 * Returns a select list that counts the rows of a query as `records`. It counts the values of each column too,
 * because a planner skips unused columns, and with them their cost and their errors.
 */
export const countList = (names: readonly string[], count = 'count'): string =>
  [`${count}(*) as records`, ...names.slice(0, MAX_COUNTED_COLUMNS).map((name) => `${count}(${name})`)].join(', ');
