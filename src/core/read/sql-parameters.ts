import type { Condition } from './condition.ts';

/** A condition whose values are bound to a statement. */
export class BoundCondition {
  readonly #condition: Condition;
  readonly #first: number;

  constructor(condition: Condition, first: number) {
    this.#condition = condition;
    this.#first = first;
  }

  /** The SQL of the condition, printed. */
  get text(): string {
    return this.print(this.#condition.sql);
  }

  /** Returns SQL for the same values, with `$n` in place of each `?`. Throws if there are more or fewer of them. */
  print(sql: string): string {
    const { params } = this.#condition;
    let next = this.#first;
    const text = sql.replace(/\?/g, () => `$${next++}`);
    const placeholders = next - this.#first;
    if (placeholders !== params.length)
      throw new Error(`A condition has ${placeholders} placeholders but ${params.length} values: ${sql}`);
    return text;
  }
}

/** The values of one statement. Each one gets its number, `$1`, `$2` and so on, when it is bound. */
export class SqlParameters {
  readonly values: unknown[] = [];

  /** Binds a value. Returns its placeholder, e.g. `$3`. */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /**
   * Binds the values of a condition. Its text is built on demand, so binding stays cheap when the statement's text is
   * cached.
   */
  bindCondition(condition: Condition): BoundCondition {
    const bound = new BoundCondition(condition, this.values.length + 1);
    this.values.push(...condition.params);
    return bound;
  }
}
