import type { CsvBytes } from './csv-bytes.ts';
import { WireRow } from './wire-row.ts';
import { writerOf, type ValueWriter } from './wire-values.ts';
import type { WireField, WirePacket } from './wire.ts';

/** Bytes of the longest value that is not a string, with its comma. */
const FIXED_BYTES = 72;
/** A byte of a string becomes at most two quotes; base64 is shorter. */
const GROWTH = 2;
const [COMMA, NEWLINE] = [0x2c, 0x0a];
const NULL = '\\N';

/**
 * Writes the rows of one result as records or texts of the common CSV dialect. They are sent in the binary protocol of
 * prepared statements, which is exact: the text protocol cuts a `float` to six digits.
 */
export class RowEncoder {
  readonly #writers: ValueWriter[];
  readonly #out: CsvBytes;
  readonly #row = new WireRow();

  constructor(fields: WireField[], out: CsvBytes) {
    this.#writers = fields.map(writerOf);
    this.#out = out;
  }

  /** Writes a record with its newline from the beginning of the output and returns its bytes. */
  record(packet: WirePacket): number {
    const out = this.#out;
    this.#open(packet);
    for (let i = 0; i < this.#writers.length; i++) {
      if (i > 0) out.byte(COMMA);
      if (this.#row.isNull(i)) out.ascii(NULL);
      else this.#writers[i]!(this.#row, out);
    }
    out.byte(NEWLINE);
    return out.length;
  }

  /** Returns the values of a row. The output must be plain. */
  texts(packet: WirePacket): (string | null)[] {
    const out = this.#out;
    this.#open(packet);
    return this.#writers.map((write, i) => {
      if (this.#row.isNull(i)) return null;
      out.length = 0;
      write(this.#row, out);
      return out.bytes.toString('utf8', 0, out.length);
    });
  }

  #open({ buffer, offset, end }: WirePacket): void {
    this.#row.open(buffer, offset, end, this.#writers.length);
    this.#out.reserve(GROWTH * (end - offset) + FIXED_BYTES * this.#writers.length);
  }
}
