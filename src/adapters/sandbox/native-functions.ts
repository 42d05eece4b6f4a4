/**
 * Functions of Node that the library of handlers calls from the isolate. Their arguments are copies. They never throw,
 * because errors of this process would name its files.
 */
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { jsonViolation } from './json-bounds.ts';

const ALGORITHMS = ['sha1', 'sha256', 'sha384', 'sha512'];
const MAX_RANDOM_BYTES = 65_536;
const HEX = /^(?:[\da-f]{2})+$/i;
/** Fewer than `jsonViolation` allows, as a parameter has two texts. */
const MAX_PARAMETERS = 49_000;
/** An address crosses in ten parts. */
const MAX_URL_CHARACTERS = 1_000_000;
const BASE64 = /^[\w+/-]*={0,2}$/;

const FUNCTIONS: Readonly<Record<string, (...args: never[]) => unknown>> = {
  encode: (text: string) => bytes(Buffer.from(text)),
  /** Decodes bytes; null if `fatal` and they are malformed. */
  decode: (content: Uint8Array, label: string, fatal: boolean, ignoreBOM: boolean) =>
    new TextDecoder(label, { fatal, ignoreBOM }).decode(content),
  /** Returns the name of an encoding; null for an unknown one. */
  encodingOf: (label: string) => new TextDecoder(label).encoding,
  toBase64: (content: string | Uint8Array) => bufferOf(content).toString('base64'),
  /** Null if the text is not Base64. */
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

  parseUrl: (text: string, base: string | undefined) =>
    isLongUrl(text, base ?? '') ? null : partsOf(new URL(text, base)),
  changeUrl(href: string, name: (typeof URL_PARTS)[number], value: string) {
    if (isLongUrl(href, value)) return null;
    const url = new URL(href);
    if (URL_PARTS.includes(name) && name !== 'origin') url[name as 'href'] = value;
    return partsOf(url);
  },
  /** Names and values by turns; null if they are too many. */
  parseQuery: (text: string) => (hasManyParameters(text) ? null : [...new URLSearchParams(text)].flat()),
  /** Takes the names and values by turns, as JSON. Null if they are too many. */
  formatQuery(json: string) {
    if (jsonViolation(json)) return null;
    const texts = JSON.parse(json) as string[];
    if (texts.length > 2 * MAX_PARAMETERS) return null;
    const query = new URLSearchParams();
    for (let i = 0; i < texts.length; i += 2) query.append(texts[i]!, texts[i + 1]!);
    return query.toString();
  },
};

/**
 * Runs a function by its name. Returns null if it fails, and for arguments other than texts, bytes, numbers and booleans. The
 * isolate bounds their size before they are copied.
 */
export function callNative(name: string, ...args: unknown[]): unknown {
  const isAllowed = (arg: unknown) => arg === null || typeof arg !== 'object' || arg instanceof Uint8Array;
  if (!Object.hasOwn(FUNCTIONS, name) || !args.every(isAllowed)) return null;
  try {
    return (FUNCTIONS[name] as (...args: unknown[]) => unknown)(...args);
  } catch {
    return null;
  }
}

const isLongUrl = (text: string, other: string): boolean => text.length + other.length > MAX_URL_CHARACTERS;

function hasManyParameters(text: string): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0 && count <= MAX_PARAMETERS; at = text.indexOf('&', at + 1)) count += 1;
  return count > MAX_PARAMETERS;
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

/** Returns a copy with a separate buffer: only that is copied to the isolate. */
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
