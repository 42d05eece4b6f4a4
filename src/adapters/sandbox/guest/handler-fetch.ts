import { addGet } from './handler-values.ts';
import { native } from './native.ts';
import { isBytes, viewOf } from './web-text.ts';

interface FetchOptions {
  method?: unknown;
  headers?: unknown;
  body?: unknown;
}

const LENGTH_BYTES = 4;

/**
 * Creates `fetch`. A request and a response cross as one list of bytes: the length of a head in JSON, the head, and the body
 * as it is.
 */
export const createFetch =
  (call: (frame: Uint8Array) => Promise<unknown>) =>
  async (url: unknown, options: FetchOptions = {}): Promise<object> => {
    const headers = headersOf(options.headers);
    const body = bodyOf(options.body, headers);
    const method = String(options.method ?? 'GET').toUpperCase();
    const head = encode(JSON.stringify({ url: String(url), method, headers, hasBody: body !== null }));
    const reply = (await call(frame(head, body ?? new Uint8Array()))) as Uint8Array;
    const start = LENGTH_BYTES + new DataView(reply.buffer, reply.byteOffset).getUint32(0);
    const { status, headers: received } = JSON.parse(decode(reply.subarray(LENGTH_BYTES, start))) as {
      status: number;
      headers: Record<string, string>;
    };
    const bytes = reply.subarray(start);
    return {
      status,
      ok: status >= 200 && status < 300,
      headers: addGet(received),
      text: async () => decode(bytes),
      json: async () => JSON.parse(decode(bytes)) as unknown,
      bytes: async () => bytes.slice(),
    };
  };

const encode = (text: string) => native('encode', text) as Uint8Array;
const decode = (bytes: Uint8Array) => native('decode', bytes, 'utf-8', false, false) as string;

function frame(head: Uint8Array, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(LENGTH_BYTES + head.length + body.length);
  new DataView(bytes.buffer).setUint32(0, head.length);
  bytes.set(head, LENGTH_BYTES);
  bytes.set(body, LENGTH_BYTES + head.length);
  return bytes;
}

function headersOf(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object') throw new TypeError('The headers of fetch() are an object');
  const entries = Object.entries(value).filter(([, text]) => text !== undefined && text !== null);
  return Object.fromEntries(entries.map(([name, text]) => [name.toLowerCase(), String(text)]));
}

function bodyOf(value: unknown, headers: Record<string, string>): Uint8Array | null {
  if (value === undefined || value === null) return null;
  if (isBytes(value)) return viewOf(value);
  const isForm = Object.prototype.toString.call(value) === '[object URLSearchParams]';
  if (typeof value !== 'string' && !isForm)
    throw new TypeError('The body of fetch() is a text, bytes or URLSearchParams');
  headers['content-type'] ??= isForm ? 'application/x-www-form-urlencoded' : 'text/plain; charset=utf-8';
  return encode(String(value));
}
