import type { AppResponse } from '../../core/app-run.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { headerIssue, isAllowedFromApps } from '../../core/http-headers.ts';

const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 16 * 1024;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
};

/** Statuses of responses without a body. */
const EMPTY = new Set([204, 205, 304]);

/**
 * Reads the return value of a handler. The code of the app may have changed it to anything, so its shape is not
 * trusted. Throws UPSTREAM_FAILED for a value that cannot be a response.
 */
export function readResponse(output: unknown): AppResponse {
  const { head, body } = propertiesOf(output);
  const { status, headers, kind } = propertiesOf(head);
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599)
    throw upstreamFailed('The handler returns no response');
  if (status < 200) throw upstreamFailed(`The status ${status} cannot end a response`);
  const given = readHeaders(headers);
  if (EMPTY.has(status) || !(body instanceof Uint8Array) || kind === 'none')
    return { status, headers: given, body: new Uint8Array() };
  const type = MEDIA_TYPES[String(kind)] ?? MEDIA_TYPES['bytes']!;
  return { status, headers: { 'content-type': type, ...given, ...charsetOf(kind, given) }, body };
}

/** Returns the media type of a text with its charset, which browsers would guess otherwise. */
function charsetOf(kind: unknown, { 'content-type': type }: Readonly<Record<string, string>>): Record<string, string> {
  if (kind !== 'text' || type === undefined || !/^text\/[^;]*$/i.test(type)) return {};
  return { 'content-type': `${type.trim()}; charset=utf-8` };
}

function readHeaders(headers: unknown): Record<string, string> {
  const given = Object.entries(propertiesOf(headers)).filter(([, value]) => value !== null);
  if (given.length > MAX_HEADERS) throw upstreamFailed(`The response has more than ${MAX_HEADERS} headers`);
  const read: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of given) {
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (typeof text !== 'string' || headerIssue(name, text) !== undefined)
      throw upstreamFailed(`The response has an invalid header ${JSON.stringify(name)}`);
    bytes += name.length + text.length;
    if (bytes > MAX_HEADER_BYTES)
      throw upstreamFailed(`The response has more than ${MAX_HEADER_BYTES} bytes of headers`);
    const key = name.toLowerCase();
    if (isAllowedFromApps(key) && !(key === 'vary' && text.includes('*'))) read[key] = text;
  }
  return read;
}

const propertiesOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
