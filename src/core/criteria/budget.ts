import { badInput } from '../errors.ts';

const MAX_DEPTH = 32;
const MAX_CONDITIONS = 1000;
const MAX_VALUES = 10_000;

/** What parsing has used up of the limits. */
export class Budget {
  private conditions = 0;
  private values = 0;

  condition(): void {
    if (++this.conditions > MAX_CONDITIONS) throw badInput(`Criteria have more than ${MAX_CONDITIONS} conditions`);
  }

  take(values: number): void {
    this.values += values;
    if (this.values > MAX_VALUES) throw badInput(`Criteria have more than ${MAX_VALUES} values`);
  }

  /** Refuses what is nested deeper than the limit. */
  enter(depth: number): void {
    if (depth > MAX_DEPTH) throw badInput(`Criteria are nested deeper than ${MAX_DEPTH} levels`);
  }
}
