/** Maximum number of columns that are counted: every source limits the length of a select list. */
const MAX_LISTED = 1000;

/**
 * Returns a select list that counts the rows of a query as `records`. The columns are counted too, because a planner
 * does not compute unused columns, so that neither their time nor their errors would show.
 */
export const countList = (names: readonly string[], count = 'count'): string =>
  [`${count}(*) as records`, ...names.slice(0, MAX_LISTED).map((name) => `${count}(${name})`)].join(', ');
