import type { AppResponse } from '../../core/app-run.ts';
import { upstreamFailed } from '../../core/errors.ts';

const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 16 * 1024;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** A value of a header: visible characters of Latin-1, blanks and tabs. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that only the service sets, because they concern the connection, its other routes or its sessions. */
const RESERVED = new Set(
  `connection content-length date keep-alive proxy-authenticate proxy-connection te trailer transfer-encoding upgrade
  alt-svc clear-site-data content-security-policy content-security-policy-report-only nel public-key-pins report-to
  reporting-endpoints server service-worker-allowed set-cookie set-cookie2 strict-transport-security via
  x-content-type-options x-request-id`.split(/\s+/),
);

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
};

/** Statuses of responses without a body. */
const EMPTY = new Set([204, 205, 304]);

/**
 * Reads what a handler returned. Its code may have changed it to anything, so that nothing of its shape is trusted. Throws
 * UPSTREAM_FAILED for what cannot be a response.
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
  return { status, headers: { 'content-type': type, ...given }, body };
}

function readHeaders(headers: unknown): Record<string, string> {
  const given = Object.entries(propertiesOf(headers)).filter(([, value]) => value !== null);
  if (given.length > MAX_HEADERS) throw upstreamFailed(`The response has more than ${MAX_HEADERS} headers`);
  const read: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of given) {
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (!NAME.test(name) || typeof text !== 'string' || !VALUE.test(text))
      throw upstreamFailed(`The response has an invalid header ${JSON.stringify(name)}`);
    bytes += name.length + text.length;
    if (bytes > MAX_HEADER_BYTES)
      throw upstreamFailed(`The response has more than ${MAX_HEADER_BYTES} bytes of headers`);
    const key = name.toLowerCase();
    if (!RESERVED.has(key) && key !== '__proto__') read[key] = text;
  }
  return read;
}

const propertiesOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
