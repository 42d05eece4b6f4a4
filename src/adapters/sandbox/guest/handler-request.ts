import { parseMultipart } from './handler-form.ts';
import { addGet, collect } from './handler-values.ts';
import { textOrBytes } from './web-text.ts';
import { parseQuery } from './web-url.ts';

/** A request as the service sends it. */
export interface RequestInput {
  method: string;
  path: string;
  params: object;
  query: object;
  headers: Record<string, string>;
  user: object;
  roles: readonly string[];
}

/** Creates `request`. Its body is read when it is used. */
export function createRequest(input: RequestInput, bytes: Uint8Array): object {
  let raw: { value: string | Uint8Array } | undefined;
  let body: { value: unknown } | undefined;
  const readRaw = () => (raw ??= { value: textOrBytes(bytes) }).value;
  const readBody = () => (body ??= { value: parseBody(input.headers['content-type'] ?? '', bytes, readRaw) }).value;
  const request = { ...input, headers: addGet(input.headers) };
  return Object.defineProperties(request, {
    body: { get: readBody, enumerable: true, configurable: true },
    rawBody: { get: readRaw, enumerable: true, configurable: true },
  });
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

/** Parses JSON and forms. A body of another type or form is the text; bytes if it is not UTF-8; null if it is empty. */
function parseBody(type: string, bytes: Uint8Array, readRaw: () => string | Uint8Array): unknown {
  if (bytes.length === 0) return null;
  const multipart = /^multipart\/form-data\b/i.test(type) ? parseMultipart(type, bytes) : null;
  if (multipart) return multipart;
  const raw = readRaw();
  if (typeof raw !== 'string') return raw;
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return collect(parseQuery(raw));
  if (!JSON_TYPE.test(type)) return raw;
  try {
    // Some senders write a byte order mark, which JSON does not have.
    return JSON.parse(raw.replace(/^\uFEFF/, ''));
  } catch {
    return raw;
  }
}
