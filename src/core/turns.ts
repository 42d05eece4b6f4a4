/** Maximum number of last turns that `LastTurns` remembers. */
const MAX_REMEMBERED = 1000;

/** The shared places that a user or a tenant occupies by turns. */
export interface Occupancy {
  /** Number of occupied places. */
  running: number;
  /** Number of the last turn, by `LastTurns`. */
  lastTurn: number;
}

/**
 * Whether the next place belongs to one rather than the other: to the one that occupies fewer, then to the earlier last
 * turn.
 */
export const precedes = (one: Occupancy, other: Occupancy): boolean =>
  one.running < other.running || (one.running === other.running && one.lastTurn < other.lastTurn);

/**
 * Counts turns and remembers the last one of each user and tenant, even while they have no work: otherwise users who
 * leave and return would pass others who wait. The earliest of more than 1,000 are forgotten. Forgotten and unknown
 * ones count like the one that was forgotten last, so that new ones cannot pass others without end, however many they
 * are.
 */
export class LastTurns {
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #lastForgotten = 0;

  /** Returns the number of the last turn; 0 before the first. */
  get(id: string): number {
    return this.#turns.get(id) ?? this.#lastForgotten;
  }

  /** Records a turn of a user and their tenant. Returns its number. */
  next(...ids: string[]): number {
    this.#turn++;
    for (const id of ids) {
      this.#turns.delete(id);
      this.#turns.set(id, this.#turn);
    }
    for (const [id, turn] of this.#turns) {
      if (this.#turns.size <= MAX_REMEMBERED) break;
      this.#turns.delete(id);
      this.#lastForgotten = turn;
    }
    return this.#turn;
  }
}
