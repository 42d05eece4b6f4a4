import { native } from './native.ts';

/** Returns the bytes of a typed array, buffer or view. */
export function viewOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new TypeError('Bytes are a Uint8Array, an ArrayBuffer or a view of one');
}

/** Returns whether a value is a typed array, buffer or view. */
export const isBytes = (value: unknown): value is ArrayBuffer | ArrayBufferView =>
  ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

/** Returns bytes as a text; the bytes themselves if they are not UTF-8. */
export const textOrBytes = (bytes: Uint8Array): string | Uint8Array =>
  bytes.length === 0 ? '' : ((native('decode', bytes, 'utf-8', true, true) as string | null) ?? bytes);

class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }
  encode(text: unknown = ''): Uint8Array {
    return native('encode', String(text)) as Uint8Array;
  }
}

class TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const encoding = native('encodingOf', String(label)) as string | null;
    if (encoding === null) throw new RangeError(`The encoding ${String(label)} is not supported`);
    this.encoding = encoding;
    this.fatal = Boolean(options.fatal);
    this.ignoreBOM = Boolean(options.ignoreBOM);
  }
  decode(bytes?: unknown): string {
    if (bytes === undefined) return '';
    const text = native('decode', viewOf(bytes), this.encoding, this.fatal, this.ignoreBOM) as string | null;
    if (text === null) throw new TypeError(`The bytes are not valid in the encoding ${this.encoding}`);
    return text;
  }
}

const btoa = (text: unknown): string => {
  const value = String(text);
  if (/[^\0-\u{FF}]/u.test(value)) throw new RangeError('btoa() takes characters up to U+00FF');
  return native('toBase64', native('fromLatin1', value)) as string;
};
const atob = (text: unknown): string => {
  const bytes = native('fromBase64', String(text)) as Uint8Array | null;
  if (bytes === null) throw new SyntaxError('atob() takes a text in Base64');
  return native('toLatin1', bytes) as string;
};

/** The global classes and functions for texts. */
export const textGlobals = { TextEncoder, TextDecoder, btoa, atob };
