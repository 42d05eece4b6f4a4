/** Limits the amount of a resource, e.g. sockets, that a user has open in this process. */
export class PerUserLimit {
  readonly #max: number;
  readonly #amounts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Adds an amount for a user. Returns the function that removes it again, however often it is called; null when the
   * user would exceed the limit. The first amount of a user is always within it.
   */
  acquire(userId: string, amount = 1): (() => void) | null {
    const before = this.#amounts.get(userId) ?? 0;
    if (before > 0 && before + amount > this.#max) return null;
    this.#amounts.set(userId, before + amount);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const others = this.#amounts.get(userId)! - amount;
      if (others > 0) this.#amounts.set(userId, others);
      else this.#amounts.delete(userId);
    };
  }
}
