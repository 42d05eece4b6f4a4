/** Milliseconds of 24 hours. */
export const DAY_MS = 86_400_000;

const OFFSET = /GMT(?:([+-])(\d{1,2}):(\d\d)(?::(\d\d))?)?$/;

/**
 * The clock on the wall in a time zone. A local time is what the clock shows: the milliseconds that its date and time
 * would be in UTC. An instant is in milliseconds since 1970.
 *
 * The clock jumps forward over a gap and back over a repeated time. A job that is due at a local time runs at the first
 * instant at which the clock shows that time or a later one. So a local time in a gap is due at the end of the gap, and
 * a repeated one is due once. See docs/contract/jobs.md#schedules.
 *
 * At most one change of the clock is expected within 48 hours.
 */
export class ZoneClock {
  readonly #formatter: Intl.DateTimeFormat;

  /** Takes the `offsetFormatter` of the time zone. */
  constructor(formatter: Intl.DateTimeFormat) {
    this.#formatter = formatter;
  }

  /** Returns the local time at an instant. */
  local(instant: number): number {
    return instant + this.#offset(instant);
  }

  /** Returns the latest local time that the clock has shown up to an instant. It is later than `local` after a jump back. */
  reached(instant: number): number {
    const offset = this.#offset(instant);
    const offsetBefore = this.#offset(instant - DAY_MS);
    const local = instant + offset;
    if (offsetBefore <= offset) return local;
    return Math.max(local, this.#changeBetween(instant - DAY_MS, instant) + offsetBefore - 1);
  }

  /** Returns the first instant at which the clock shows a local time or a later one. */
  firstInstant(local: number): number {
    const before = this.#offset(local - DAY_MS);
    const after = this.#offset(local + DAY_MS);
    if (before === after) return local - before;
    const change = this.#changeBetween(local - DAY_MS, local + DAY_MS);
    return local - before < change ? local - before : Math.max(change, local - after);
  }

  /** Returns the first instant after `from` with the offset of `to`. Their offsets differ. */
  #changeBetween(from: number, to: number): number {
    const offset = this.#offset(from);
    let [same, changed] = [from, to];
    while (changed - same > 1) {
      const middle = Math.floor((same + changed) / 2);
      if (this.#offset(middle) === offset) same = middle;
      else changed = middle;
    }
    return changed;
  }

  /** Returns the milliseconds by which the clock is ahead of UTC. */
  #offset(instant: number): number {
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = OFFSET.exec(this.#formatter.format(instant))!;
    const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -size : size;
  }
}
