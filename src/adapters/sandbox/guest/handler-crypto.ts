import { native } from './native.ts';
import { isBytes, viewOf } from './web-text.ts';

/** `crypto` of handlers. Texts are used as UTF-8; algorithms are `sha1`, `sha256`, `sha384` and `sha512`. */
export const handlerCrypto = {
  hash: (algorithm: unknown, data: unknown, encoding: unknown = 'hex') =>
    encoded(run('hash', algorithm, dataOf(data, 'data')) as Uint8Array, encoding),
  hmac: (algorithm: unknown, secret: unknown, data: unknown, encoding: unknown = 'hex') =>
    encoded(run('hmac', algorithm, secretOf(secret), dataOf(data, 'data')) as Uint8Array, encoding),
  verifyHmac(algorithm: unknown, secret: unknown, data: unknown, signature: unknown): boolean {
    const key = secretOf(secret);
    const content = dataOf(data, 'data');
    const given = typeof signature === 'string' || isBytes(signature) ? dataOf(signature, 'signature') : '';
    return run('verifyHmac', algorithm, key, content, given) as boolean;
  },
  randomUUID: () => native('randomUUID'),
  randomBytes(size: unknown): unknown {
    const bytes = Number.isInteger(size) && (size as number) >= 0 ? native('randomBytes', size) : null;
    if (bytes === null) throw new RangeError('randomBytes(size) takes a size up to 65,536');
    return bytes;
  },
};

const run = (name: string, algorithm: unknown, ...args: unknown[]): unknown => {
  const result = native(name, algorithmOf(algorithm), ...args);
  if (result === null) throw new TypeError(`The algorithm ${String(algorithm)} is not supported`);
  return result;
};

/** Accepts `SHA-256`, too. */
const algorithmOf = (algorithm: unknown): string => String(algorithm).toLowerCase().replace('-', '');

function dataOf(value: unknown, name: string): string | Uint8Array {
  if (typeof value === 'string') return value;
  if (isBytes(value)) return viewOf(value);
  throw new TypeError(`The ${name} must be a text or bytes`);
}

/** Refuses an empty secret: anyone could compute the signature. */
function secretOf(value: unknown): string | Uint8Array {
  const secret = value === undefined || value === null ? '' : dataOf(value, 'secret');
  if (secret.length === 0) throw new TypeError('The secret is empty');
  return secret;
}

function encoded(bytes: Uint8Array, encoding: unknown): unknown {
  if (encoding === 'bytes') return bytes;
  if (encoding === 'base64') return native('toBase64', bytes);
  if (encoding !== 'hex') throw new TypeError('The encoding must be hex, base64 or bytes');
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
