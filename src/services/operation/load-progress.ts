import { READING } from '../../core/operations.ts';
import type { Progress } from './operation-repository.ts';

/** The progress of reading the rows of a query: rows read, an estimate of all rows, and the phase. */
export class LoadProgress {
  readonly #send: (update: Progress) => void;
  readonly #readShare: number;
  #rows = 0;
  #total: number | null;

  /**
   * `lastRows` is the number of rows of the last time, null if it is unknown. `readShare` is the part of the work that
   * is done when all rows are read, 0 to 1.
   */
  constructor(sendUpdate: (update: Progress) => void, lastRows: number | null, readShare = 1) {
    this.#send = sendUpdate;
    this.#readShare = readShare;
    this.#total = lastRows;
    this.#sendRows(READING);
  }

  /** Reports the rows that have arrived. Their number in the index follows behind and is ignored. */
  readonly read = (rows: number): void => {
    if (rows <= this.#rows) return;
    this.#rows = rows;
    this.#sendRows();
  };

  /** Reports an estimate of all rows. One below the rows that have arrived is ignored. */
  readonly estimate = (rows: number): void => {
    if (rows === this.#total || rows < this.#rows) return;
    this.#total = rows;
    this.#sendRows();
  };

  /** Reports that all rows have arrived, and the next phase. Their number replaces the estimate. */
  readAll(rows: number, phase?: string): void {
    this.#rows = this.#total = rows;
    this.#sendRows(phase);
  }

  /** Reports the share of the rows that are stored, after all were read. */
  readonly stored = (share: number): void =>
    this.#send({ percent: 100 * (this.#readShare + (1 - this.#readShare) * share) });

  #sendRows(message?: string): void {
    this.#send({ current: this.#rows, ...(message && { message }), ...this.#share() });
  }

  /** The total and the share of it. An estimate below the rows that have arrived is wrong: then both are unknown. */
  #share(): Progress {
    const total = this.#total;
    if (total === null) return {};
    if (total < this.#rows) return { total: null, percent: null };
    return { total, percent: total === 0 ? 0 : (100 * this.#readShare * this.#rows) / total };
  }
}
