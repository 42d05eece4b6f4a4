import type { FileProblem } from '../../../core/row-source.ts';
import { emptyColumnProblem, nextTableProblem } from './sheet-problems.ts';
import { CellNumber, CellTime, type CellValue } from './sheet-values.ts';

/** Columns and rows that show a table on each side of an empty column or row. */
const MIN_SIZE = 2;

/** Finds empty columns and rows of a sheet that may divide several tables. */
export class SheetLayout {
  /** Positions of columns with values, and with numbers or dates. */
  readonly #filled = new Set<number>();
  readonly #typed = new Set<number>();
  /** The row after the last one, and the number of rows so far. */
  #next = 0;
  #rows = 0;
  /** The first row of another table, from 1. */
  #nextTable: number | undefined;

  /** Adds a row below the names, from 0, which occurs `repeat` times. */
  add(values: readonly CellValue[], index: number, repeat: number): void {
    const filled = values.flatMap((value, i) => (value === null ? [] : [i]));
    if (this.#rows >= MIN_SIZE && index > this.#next && this.#nextTable === undefined) {
      const areTexts = filled.every((i) => typeof values[i] === 'string');
      if (areTexts && filled.length >= MIN_SIZE && filled.some((i) => this.#typed.has(i))) this.#nextTable = index + 1;
    }
    for (const i of filled) {
      this.#filled.add(i);
      if (isTyped(values[i]!)) this.#typed.add(i);
    }
    this.#next = index + repeat;
    this.#rows += repeat;
  }

  /** Returns the doubts about a table with these names. */
  problems(names: readonly string[]): FileProblem[] {
    const width = Math.max(names.length, ...[...this.#filled].map((i) => i + 1));
    const isFilled = (i: number) => this.#filled.has(i) || (names[i] ?? '') !== '';
    const positions = Array.from({ length: width }, (_, i) => i);
    const empty = positions.find((i) => {
      const [before, behind] = [positions.slice(0, i), positions.slice(i + 1)].map(
        (part) => part.filter(isFilled).length,
      );
      return !isFilled(i) && before! >= MIN_SIZE && behind! >= MIN_SIZE;
    });
    return [
      ...(empty === undefined ? [] : [emptyColumnProblem(empty + 1)]),
      ...(this.#nextTable === undefined ? [] : [nextTableProblem(this.#nextTable)]),
    ];
  }
}

const isTyped = (value: CellValue): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || value instanceof CellNumber || value instanceof CellTime;
