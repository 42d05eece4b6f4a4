/** The due times of a schedule without its bounds. Instants are in milliseconds since 1970. */
export interface Runs {
  /** Returns the first due time after an instant, or null without one. */
  next(after: number): number | null;
  /** Returns the last due time up to and including an instant, or null without one. */
  latest(until: number): number | null;
}
