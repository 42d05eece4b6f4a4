import { badInput } from '../errors.ts';

const MAX_DEPTH = 32;
const MAX_CONDITIONS = 1000;
const MAX_VALUES = 10_000;
/**
 * Maximum number of parts of all regular expressions together, with repetitions written out. Each costs microseconds
 * to compile.
 */
const MAX_REGEX_PARTS = 20_000;

/** Counts the used part of the limits during a parse. */
export class Budget {
  private conditions = 0;
  private values = 0;
  private regexParts = 0;

  /** Returns a budget with the same use. */
  copy(): Budget {
    return Object.assign(new Budget(), this);
  }

  condition(): void {
    if (++this.conditions > MAX_CONDITIONS) throw badInput(`Criteria have more than ${MAX_CONDITIONS} conditions`);
  }

  take(values: number): void {
    this.values += values;
    if (this.values > MAX_VALUES) throw badInput(`Criteria have more than ${MAX_VALUES} values`);
  }

  regex(parts: number): void {
    this.regexParts += parts;
    if (this.regexParts > MAX_REGEX_PARTS)
      throw badInput(
        `The $regex of the criteria have more than ${MAX_REGEX_PARTS} parts together when their repetitions are written out`,
      );
  }

  /** Throws when the nesting exceeds the limit. */
  enter(depth: number): void {
    if (depth > MAX_DEPTH) throw badInput(`Criteria are nested deeper than ${MAX_DEPTH} levels`);
  }
}
