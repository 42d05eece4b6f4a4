/**
 * Returns the condition of rows that fulfil the `rule` of visible rows and then all of `question`. DuckDB orders the
 * parts of a conjunction by their cost, and would evaluate a cheap question for hidden rows too. It evaluates the
 * second part of a CASE only where the first is true. The rule appears also outside of the CASE: there DuckDB can apply
 * it while it reads the table, and below the joins that it plans for long lists of the question.
 *
 * The inner CASE is for speed: as a condition, a conjunction ends at the first false part.
 */
export const visibleFirst = (rule: string, question: string[]): string =>
  question.length === 0
    ? rule
    : `${rule} AND CASE WHEN ${rule} THEN CASE WHEN ${question.join(' AND ')} THEN true ELSE false END ELSE false END`;

/**
 * Returns a column whose values DuckDB knows nothing about in advance. Of a plain column it knows the least and the
 * greatest value, which can be those of hidden rows: it skips parts of the table by them while it sorts, replaces a
 * comparison by its result, and chooses how to group. And it computes a function once for each value of a compressed
 * column, also for values that only hidden rows have.
 */
export const opaque = (column: string): string => `TRY(${column})`;
