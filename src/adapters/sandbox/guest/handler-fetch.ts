import { addGet, joinFrame, LENGTH_BYTES } from './handler-values.ts';
import { native } from './native.ts';
import { isBytes, viewOf } from './web-text.ts';

interface FetchOptions {
  method?: unknown;
  headers?: unknown;
  body?: unknown;
  redirect?: unknown;
}

const REDIRECTS = ['follow', 'manual', 'error'];

/** Creates `fetch`. A request and a response cross as frames. */
export const createFetch =
  (call: (frame: Uint8Array) => Promise<unknown>) =>
  async (url: unknown, options: FetchOptions = {}): Promise<object> => {
    const headers = headersOf(options.headers);
    const body = bodyOf(options.body, headers);
    const method = String(options.method ?? 'GET').toUpperCase();
    const redirect = options.redirect ?? 'follow';
    if (!REDIRECTS.includes(redirect as string))
      throw new TypeError(`The redirect of fetch() is one of ${REDIRECTS.join(', ')}`);
    const followsRedirects = redirect === 'follow';
    const head = { url: String(url), method, headers, hasBody: body !== null, followsRedirects };
    const reply = (await call(joinFrame(head, body ?? new Uint8Array()))) as Uint8Array;
    const start = LENGTH_BYTES + new DataView(reply.buffer, reply.byteOffset).getUint32(0);
    const { status, headers: received } = JSON.parse(decode(reply.subarray(LENGTH_BYTES, start))) as {
      status: number;
      headers: Record<string, string>;
    };
    const bytes = reply.subarray(start);
    if (redirect === 'error' && status >= 300 && status < 400 && received['location'] !== undefined)
      throw new TypeError('fetch() received a redirect');
    return {
      status,
      ok: status >= 200 && status < 300,
      headers: addGet(received),
      /** The value of JSON, else the text. */
      get body() {
        const text = decode(bytes);
        try {
          return JSON_TYPE.test(received['content-type'] ?? '') ? (JSON.parse(text) as unknown) : text;
        } catch {
          return text;
        }
      },
      text: async () => decode(bytes),
      json: async () => JSON.parse(decode(bytes)) as unknown,
      bytes: async () => bytes.slice(),
    };
  };

const JSON_TYPE = /^[^;]*[/+]json\s*(?:;|$)/i;

const encode = (text: string) => native('encode', text) as Uint8Array;
const decode = (bytes: Uint8Array) => native('decode', bytes, 'utf-8', false, false) as string;

function headersOf(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object') throw new TypeError('The headers of fetch() are an object');
  const pairs = Array.isArray(value) ? (value as unknown[]).map(pairOf) : Object.entries(value);
  const entries = pairs.filter(([, text]) => text !== undefined && text !== null);
  return Object.fromEntries(entries.map(([name, text]) => [name.toLowerCase(), String(text)]));
}

function pairOf(pair: unknown): [string, unknown] {
  if (!Array.isArray(pair) || pair.length !== 2) throw new TypeError('The headers of fetch() are an object, or pairs');
  return [String(pair[0]), pair[1]];
}

function bodyOf(value: unknown, headers: Record<string, string>): Uint8Array | null {
  if (value === undefined || value === null) return null;
  if (isBytes(value)) return viewOf(value);
  const isForm = Object.prototype.toString.call(value) === '[object URLSearchParams]';
  if (isData(value)) {
    headers['content-type'] ??= 'application/json';
    return encode(JSON.stringify(value));
  }
  if (typeof value !== 'string' && !isForm)
    throw new TypeError('The body of fetch() is a text, bytes, URLSearchParams, or a plain object or list for JSON');
  headers['content-type'] ??= isForm ? 'application/x-www-form-urlencoded' : 'text/plain; charset=utf-8';
  return encode(String(value));
}

/** Returns whether a value is a list or a plain object. */
function isData(value: unknown): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined;
  return prototype === null || prototype === Object.prototype;
}
