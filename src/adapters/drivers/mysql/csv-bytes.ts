import { isUtf8 } from 'node:buffer';

const [QUOTE, COMMA, NEWLINE, RETURN, BACKSLASH, CAPITAL_N, ZERO, MINUS] = [
  0x22, 0x2c, 0x0a, 0x0d, 0x5c, 0x4e, 0x30, 0x2d,
];
/** Longer values are searched and copied natively, not byte by byte. */
const LONG = 128;
const INITIAL_BYTES = 64 * 1024;
const ASCII_ABOVE = 0x80;

/**
 * Bytes of values in the common CSV dialect (core/row-source.ts), written from a server's bytes without a string in
 * between. Call `reserve` first: no other method checks the space. With `plain`, texts are not quoted, for readers of
 * single values.
 */
export class CsvBytes {
  readonly #plain: boolean;
  bytes: Buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  length = 0;

  constructor(plain = false) {
    this.#plain = plain;
  }

  /** Clears the output and reserves space for `more` bytes. */
  reserve(more: number): void {
    this.length = 0;
    if (more > this.bytes.length) this.bytes = Buffer.allocUnsafe(more);
  }

  byte(byte: number): void {
    this.bytes[this.length++] = byte;
  }

  /** Appends characters of ASCII that need no quotes. */
  ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.bytes[this.length++] = text.charCodeAt(i);
  }

  /** Appends an integer of at most 32 bits, with or without sign. */
  integer(value: number): void {
    if (value < 0) {
      this.byte(MINUS);
      value = -value;
    }
    let width = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) width++;
    this.padded(value, width);
  }

  /** Appends the last `width` digits. */
  padded(value: number, width: number): void {
    for (let at = this.length + width - 1; at >= this.length; at--) {
      const rest = Math.floor(value / 10);
      this.bytes[at] = ZERO + value - rest * 10;
      value = rest;
    }
    this.length += width;
  }

  /**
   * Appends the text of `source[start, end)`. Invalid UTF-8, which servers accept as halves of surrogate pairs,
   * becomes U+FFFD.
   */
  text(source: Buffer, start: number, end: number): void {
    if (this.#plain || end - start > LONG) return this.#longText(source, start, end);
    const { bytes } = this;
    let at = this.length;
    let seen = 0;
    for (let i = start; i < end; i++) {
      const byte = source[i]!;
      if (byte <= COMMA && (byte === COMMA || byte === QUOTE || byte === NEWLINE || byte === RETURN))
        return this.#longText(source, start, end);
      seen |= byte;
      bytes[at++] = byte;
    }
    // The text `\N` is not null, and an empty line would be skipped.
    if (at === this.length || (end - start === 2 && source[start] === BACKSLASH && source[start + 1] === CAPITAL_N))
      return this.#longText(source, start, end);
    if (seen >= ASCII_ABOVE && !isUtf8(source.subarray(start, end))) return this.#longText(source, start, end);
    this.length = at;
  }

  /** Appends a text with quotes, unless plain. */
  #longText(source: Buffer, start: number, end: number): void {
    const text = source.subarray(start, end);
    if (!isUtf8(text)) return this.replaced(text.toString('utf8'));
    if (this.#plain) return this.#copy(text);
    this.byte(QUOTE);
    for (let from = 0; from < text.length;) {
      const found = text.indexOf(QUOTE, from);
      this.#copy(text.subarray(from, found < 0 ? text.length : found + 1));
      if (found >= 0) this.byte(QUOTE);
      from = found < 0 ? text.length : found + 1;
    }
    this.byte(QUOTE);
  }

  /** Appends a text in place of another one whose space was reserved. */
  replaced(text: string): void {
    const bytes = Buffer.from(text);
    const grown = Buffer.allocUnsafe(this.bytes.length + 2 * bytes.length + 2);
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
    this.text(bytes, 0, bytes.length);
  }

  #copy(text: Buffer): void {
    text.copy(this.bytes, this.length);
    this.length += text.length;
  }
}
