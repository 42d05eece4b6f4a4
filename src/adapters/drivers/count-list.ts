/** Columns counted at most: every source bounds the length of a select list. */
const MAX_LISTED = 1000;

/**
 * What a select of ours asks of the columns of a query to count its rows, as `records`. The columns are counted as well: what nobody looks at is not computed
 * by a planner, so that neither its time nor its errors would show.
 */
export const countList = (names: readonly string[], count = 'count'): string =>
  [`${count}(*) as records`, ...names.slice(0, MAX_LISTED).map((name) => `${count}(${name})`)].join(', ');
