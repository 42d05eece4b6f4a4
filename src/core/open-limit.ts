/** Counts what the users of one process have open, e.g. sockets, up to a limit for each user. */
export class OpenLimit {
  readonly #max: number;
  readonly #open = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Counts one more for a user. Returns the function that counts it as closed, however often it is called; null when
   * the user has reached the limit.
   */
  open(userId: string): (() => void) | null {
    const count = this.#open.get(userId) ?? 0;
    if (count >= this.#max) return null;
    this.#open.set(userId, count + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const others = this.#open.get(userId)! - 1;
      if (others > 0) this.#open.set(userId, others);
      else this.#open.delete(userId);
    };
  }
}
