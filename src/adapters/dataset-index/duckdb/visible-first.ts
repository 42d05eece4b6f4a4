/**
 * Returns SQL for the rows that fulfil `rule`, i.e. are visible, and all of `conditions`. DuckDB orders the parts of a
 * conjunction by their cost, and would evaluate a cheap condition for hidden rows too. It evaluates the second part of
 * a CASE only where the first is true. The rule appears also outside of the CASE: there DuckDB can apply it while it
 * reads the table, and below the joins that it plans for long lists of the conditions.
 *
 * The inner CASE is for speed: as a condition, a conjunction ends at the first false part.
 */
export const visibleFirst = (rule: string, conditions: string[]): string =>
  conditions.length === 0
    ? rule
    : `${rule} AND CASE WHEN ${rule} THEN CASE WHEN ${conditions.join(' AND ')} THEN true ELSE false END ELSE false END`;

/**
 * Hides the statistics of a column from DuckDB's optimizer. They may come from hidden rows. By the least and the
 * greatest value it skips parts of the table while it sorts, replaces a comparison by its result, and chooses how to
 * group. It also computes a function once for each value of a compressed column, even for values of hidden rows only.
 */
export const opaque = (column: string): string => `TRY(${column})`;
