import { joinFrame } from './handler-values.ts';
import { native } from './native.ts';
import { isBytes, viewOf } from './web-text.ts';

/** How the body of a response was given, which determines its media type. */
type BodyKind = 'none' | 'json' | 'text' | 'bytes';

/** A response in the form that crosses to the service. */
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

/** The responses of a handler: it can send one before its end. */
export interface Responder {
  /** The function `respond` of handlers. */
  respond(...given: unknown[]): unknown;
  /** Returns the response of a handler at its end; undefined if it has sent a response. Throws for a second one. */
  end(value: unknown): Promise<unknown>;
  /** Waits for responses that are being sent. */
  settle(): Promise<unknown>;
}

/**
 * Creates `respond`. With one value that is not an integer, `respond` sends the response for that value. Otherwise it
 * creates a response that the handler returns or throws. `send` takes a frame.
 */
export function createResponder(send: (frame: Uint8Array) => Promise<unknown>): Responder {
  const sending: Promise<void>[] = [];
  let state: 'open' | 'sending' | 'sent' = 'open';
  let repeated: Error | null = null;
  const sendNow = async (value: unknown): Promise<void> => {
    if (state !== 'open') throw (repeated = new Error('The handler has responded already'));
    state = 'sending';
    try {
      const { head, body } = packResponse(value);
      const bytes = typeof body === 'string' ? (native('encode', body) as Uint8Array) : body;
      await send(joinFrame(head, bytes));
      state = 'sent';
    } catch (error) {
      state = 'open';
      throw error;
    }
  };
  const settle = () => Promise.allSettled(sending);
  return {
    respond(...given) {
      if (given.length !== 1 || Number.isInteger(given[0])) return respond(...given);
      const sent = sendNow(given[0]);
      // A handler need not await it.
      sent.catch(() => {});
      sending.push(sent);
      return sent;
    },
    async end(value) {
      const failed = (await settle()).find((outcome) => outcome.status === 'rejected');
      if (repeated) throw repeated;
      if (state === 'sent' && value !== undefined)
        throw new Error('The handler has responded already, and ends with another response');
      if (state === 'open' && value === undefined && failed) throw failed.reason;
      return value;
    },
    settle,
  };
}

/** Creates a response. */
function respond(status?: unknown, body?: unknown, headers?: unknown): object {
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
