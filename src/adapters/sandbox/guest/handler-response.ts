import { isBytes, viewOf } from './web-text.ts';

/** How the body of a response was given, which determines its media type. */
type BodyKind = 'none' | 'json' | 'text' | 'bytes';

/** What crosses to the service. */
export interface PackedResponse {
  head: { status: number; headers: object; kind: BodyKind };
  body: string | Uint8Array;
}

interface ResponseObject {
  status: number;
  body?: unknown;
  headers?: object;
}

const KEYS = new Set(['status', 'body', 'headers']);

/** Returns whether a value is a response: its keys are among `status`, `body`, `headers`, and its status is 100 to 599. */
export function isResponse(value: unknown): value is ResponseObject {
  if (typeof value !== 'object' || value === null || value instanceof Error || Array.isArray(value)) return false;
  const { status } = value as { status?: unknown };
  return (
    Object.hasOwn(value, 'status') &&
    Number.isInteger(status) &&
    (status as number) >= 100 &&
    (status as number) <= 599 &&
    Object.keys(value).every((key) => KEYS.has(key))
  );
}

/** Creates a response. A handler returns or throws it. */
export function respond(status: unknown, body?: unknown, headers?: unknown): object {
  if (!Number.isInteger(status) || (status as number) < 100 || (status as number) > 599)
    throw new TypeError('respond(status, body, headers) takes a status from 100 to 599');
  return { status, body, headers };
}

/** Returns what a handler returned as a response: a value is the JSON of a response 200, nothing is 204. */
export function packResponse(value: unknown): PackedResponse {
  if (isResponse(value)) return pack(value.status, value.headers, value.body);
  return pack(value === undefined ? 204 : 200, undefined, value);
}

function pack(status: number, headers: unknown, value: unknown): PackedResponse {
  const given = typeof headers === 'object' && headers !== null ? headers : {};
  const { kind, body } = packBody(value);
  return { head: { status, headers: given, kind }, body };
}

function packBody(value: unknown): { kind: BodyKind; body: string | Uint8Array } {
  if (typeof value === 'string') return { kind: 'text', body: value };
  if (isBytes(value)) return { kind: 'bytes', body: viewOf(value) };
  const json = value === undefined ? undefined : JSON.stringify(value);
  return json === undefined ? { kind: 'none', body: '' } : { kind: 'json', body: json };
}
