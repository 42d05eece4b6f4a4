/** Cursor over the values of one row in the binary protocol of prepared statements. Strings begin with their length. */
export class WireRow {
  bytes!: Buffer;
  #at = 0;
  #end = 0;
  #nulls = 0;

  /**
   * Moves to the first value of `bytes[offset, end)`: after a byte of 0, and a bit for each column after two unused
   * ones.
   */
  open(bytes: Buffer, offset: number, end: number, columns: number): void {
    this.bytes = bytes;
    this.#end = end;
    this.#nulls = offset + 1;
    this.#at = this.#nulls + ((columns + 9) >> 3);
  }

  isNull(column: number): boolean {
    return (this.bytes[this.#nulls + ((column + 2) >> 3)]! & (1 << ((column + 2) & 7))) !== 0;
  }

  /** Returns the position of the next `length` bytes and moves past them. */
  take(length: number): number {
    const at = this.#at;
    this.#at = at + length;
    if (this.#at > this.#end) throw new RangeError('The server sent half a row');
    return at;
  }

  /** Reads a length in MySQL's encoding: one byte, or the two, three or eight bytes that follow it. */
  length(): number {
    const first = this.bytes[this.take(1)]!;
    if (first < 0xfb) return first;
    const width = first === 0xfc ? 2 : first === 0xfd ? 3 : 6;
    const length = this.bytes.readUIntLE(this.take(width), width);
    if (width === 6) this.take(2);
    return length;
  }
}
