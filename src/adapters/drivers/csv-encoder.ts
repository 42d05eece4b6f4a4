import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { written } from '../../core/disk-full.ts';
import type { Segment } from '../../core/row-source.ts';

/** Number of bytes after which a segment is complete. */
const SEGMENT_BYTES = 8 << 20;

/** A UTF-16 code unit needs at most three bytes in UTF-8. */
const BYTES_PER_UNIT = 3;

/** Returns the name of a writer's n-th segment, from 0. */
export const segmentName = (n: number): string => `segment-${String(n).padStart(6, '0')}.csv`;

const SPECIAL = /[",\n\r]/;

/**
 * Returns a value in the common CSV dialect (core/row-source.ts). A null is `\N`. The text `\N` is quoted, and so is
 * the empty text, because an empty line would be skipped.
 */
export function csvText(value: string | null): string {
  if (value === null) return '\\N';
  if (SPECIAL.test(value)) return `"${value.replaceAll('"', '""')}"`;
  return value === '' || value === '\\N' ? `"${value}"` : value;
}

/** The number of rows, and of their bytes as CSV, as two items that another thread may read while this one is busy. */
export type RowCounter = Float64Array;

/**
 * Writes rows as segment files of about 8 MB into a folder. Every value is a text: numbers in plain digits,
 * `true`/`false`, dates `YYYY-MM-DD`, timestamps ISO in UTC. A row is built as one string and encoded once, which
 * costs a tenth of encoding each value.
 */
export class CsvSegmentWriter {
  readonly #dir: string;
  readonly #counter: RowCounter;
  #buffer = Buffer.allocUnsafe(SEGMENT_BYTES + (1 << 20));
  #line = '';
  #first = true;
  #bytes = 0;
  #rows = 0;
  #longestRow = 0;
  #segments = 0;

  /** `dir` is an existing folder for this source alone. Every record increments `counter`. */
  constructor(dir: string, counter: RowCounter = new Float64Array(2)) {
    this.#dir = dir;
    this.#counter = counter;
  }

  /** Number of rows since the last segment. */
  get rows(): number {
    return this.#rows;
  }

  /** Whether the rows since the last segment are enough for a segment. Then call `flush` before writing more. */
  get isFull(): boolean {
    return this.#bytes >= SEGMENT_BYTES;
  }

  /** Appends a value to the current row. */
  text(value: string | null): void {
    this.#line += this.#first ? csvText(value) : `,${csvText(value)}`;
    this.#first = false;
  }

  /** Ends the current row. */
  endRow(): void {
    this.record(`${this.#line}\n`);
    this.#line = '';
    this.#first = true;
  }

  /** Appends a complete record in the dialect, including its `\n`. */
  record(line: string): void {
    this.#reserve(line.length * BYTES_PER_UNIT);
    const written = this.#buffer.write(line, this.#bytes);
    this.#bytes += written;
    this.#rows += 1;
    this.#counter[0]! += 1;
    this.#counter[1]! += written;
    if (written > this.#longestRow) this.#longestRow = written;
  }

  /** Appends a complete row. */
  row(values: readonly (string | null)[]): void {
    for (const value of values) this.text(value);
    this.endRow();
  }

  /** Writes the rows since the last segment to a file that its reader deletes. */
  async flush(): Promise<Segment> {
    const segment: Segment = {
      path: join(this.#dir, segmentName(this.#segments++)),
      rows: this.#rows,
      bytes: this.#bytes,
      longestRow: this.#longestRow,
      temporary: true,
    };
    await written(writeFile(segment.path, this.#buffer.subarray(0, this.#bytes)));
    this.#bytes = this.#rows = this.#longestRow = 0;
    return segment;
  }

  #reserve(bytes: number): void {
    if (this.#bytes + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(this.#bytes + bytes);
    this.#buffer.copy(grown, 0, 0, this.#bytes);
    this.#buffer = grown;
  }
}

/** Yields rows of texts, which come in batches, as segments in `dir`. */
export async function* csvSegments(
  batches: AsyncIterable<readonly (readonly (string | null)[])[]>,
  dir: string,
): AsyncGenerator<Segment> {
  const writer = new CsvSegmentWriter(dir);
  for await (const batch of batches) {
    for (const row of batch) {
      writer.row(row);
      if (writer.isFull) yield await writer.flush();
    }
  }
  if (writer.rows > 0) yield await writer.flush();
}
