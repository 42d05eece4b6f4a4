/** Limits how many of something, e.g. sockets, a user has open in this process. */
export class PerUserLimit {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Counts one more for a user. Returns the function that counts it as closed, however often it is called; null when
   * the user has reached the limit.
   */
  acquire(userId: string): (() => void) | null {
    const count = this.#counts.get(userId) ?? 0;
    if (count >= this.#max) return null;
    this.#counts.set(userId, count + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const others = this.#counts.get(userId)! - 1;
      if (others > 0) this.#counts.set(userId, others);
      else this.#counts.delete(userId);
    };
  }
}
