/**
 * Functions of Node that the library of handlers calls from the isolate. Their arguments are copies of any shape. They
 * throw nothing, because errors of this process would name its files.
 */
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

const ALGORITHMS = ['sha1', 'sha256', 'sha384', 'sha512'];
const MAX_RANDOM_BYTES = 65_536;
const HEX = /^(?:[\da-f]{2})+$/i;
const BASE64 = /^[\w+/-]*={0,2}$/;

const FUNCTIONS: Readonly<Record<string, (...args: never[]) => unknown>> = {
  encode: (text: string) => bytes(Buffer.from(text)),
  /** Decodes bytes; null if `fatal` and they are malformed. */
  decode: (content: Uint8Array, label: string, fatal: boolean, ignoreBOM: boolean) =>
    new TextDecoder(label, { fatal, ignoreBOM }).decode(content),
  /** Returns the name of an encoding; null for an unknown one. */
  encodingOf: (label: string) => new TextDecoder(label).encoding,
  toBase64: (content: string | Uint8Array) => bufferOf(content).toString('base64'),
  /** Null if the text is no Base64. */
  fromBase64(text: string) {
    // Without blanks, the expression takes time in proportion to the text.
    const compact = text.replaceAll(/\s/g, '');
    return BASE64.test(compact) ? bytes(Buffer.from(compact, 'base64')) : null;
  },
  /** Latin-1 texts have a character for each byte. */
  fromLatin1: (text: string) => bytes(Buffer.from(text, 'latin1')),
  toLatin1: (content: Uint8Array) => Buffer.from(content).toString('latin1'),

  hash: (algorithm: string, data: string | Uint8Array) => bytes(createHash(known(algorithm)).update(data).digest()),
  hmac: (algorithm: string, key: string | Uint8Array, data: string | Uint8Array) =>
    bytes(createHmac(known(algorithm), key).update(data).digest()),
  /** Compares in constant time. */
  verifyHmac(
    algorithm: string,
    key: string | Uint8Array,
    data: string | Uint8Array,
    signature: string | Uint8Array,
  ): boolean {
    const expected = createHmac(known(algorithm), key).update(data).digest();
    const given = typeof signature === 'string' ? signatureBytes(signature, algorithm, expected.length) : signature;
    return given.length === expected.length && timingSafeEqual(given, expected);
  },
  randomUUID: () => randomUUID(),
  randomBytes: (size: number) => (size <= MAX_RANDOM_BYTES ? bytes(randomBytes(size)) : null),

  parseUrl: (text: string, base: string | undefined) => partsOf(new URL(text, base)),
  changeUrl(href: string, name: (typeof URL_PARTS)[number], value: string) {
    const url = new URL(href);
    if (URL_PARTS.includes(name) && name !== 'origin') url[name as 'href'] = value;
    return partsOf(url);
  },
  /** Names and values by turns. */
  parseQuery: (text: string) => [...new URLSearchParams(text)].flat(),
  formatQuery(pairs: string[]) {
    const query = new URLSearchParams();
    for (let i = 0; i < pairs.length; i += 2) query.append(pairs[i]!, pairs[i + 1]!);
    return query.toString();
  },
};

/** Runs a function by its name. Returns null if it fails. */
export function callNative(name: string, ...args: unknown[]): unknown {
  try {
    return (FUNCTIONS[name] as (...args: unknown[]) => unknown)(...args);
  } catch {
    return null;
  }
}

const URL_PARTS = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

const partsOf = (url: URL): Record<string, string> => Object.fromEntries(URL_PARTS.map((name) => [name, url[name]]));

/** Returns a copy with a buffer of its own: only that is copied to the isolate. */
const bytes = (buffer: Buffer): Uint8Array => new Uint8Array(buffer);

const bufferOf = (content: string | Uint8Array): Buffer =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);

function known(algorithm: string): string {
  if (!ALGORITHMS.includes(algorithm)) throw new Error('unknown');
  return algorithm;
}

/** Reads a signature in hexadecimal or Base64, which may follow the name of the algorithm as in `sha256=`. */
function signatureBytes(text: string, algorithm: string, length: number): Uint8Array {
  const prefix = `${algorithm}=`;
  const value = text.toLowerCase().startsWith(prefix) ? text.slice(prefix.length) : text;
  if (value.length === 2 * length && HEX.test(value)) return Buffer.from(value, 'hex');
  return BASE64.test(value) ? Buffer.from(value, 'base64') : new Uint8Array();
}
