import type { HandlerFetch, HandlerTask } from '../../core/app-run.ts';
import { SqlFailure } from '../../core/app-workspace.ts';
import { ApiError, badInput } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import { HostCallError, type HostCall } from '../../core/sandbox.ts';
import { databaseCalls } from './handler-database.ts';
import { workspaceKeyOf } from './handler-places.ts';
import { readResponse } from './handler-response.ts';
import { createHandlerServices } from './handler-services.ts';

/** Maximum size of the response of a handler. */
export const MAX_OUTPUT_BYTES = 6_000_000;
const LENGTH_BYTES = 4;
const MAX_HEAD_BYTES = 64 * 1024;

/** Returns the host calls of a run of a handler. Their arguments come from the code of the app, and may be anything. */
export function createHostCalls(platform: Platform, task: HandlerTask): Record<string, HostCall> {
  const services = createHandlerServices(task);
  const calls: Record<string, HostCall> = {
    ...databaseCalls(platform.workspaces, workspaceKeyOf(task), task),
    fetch: async (argument, signal) => {
      const { status, headers, body } = await services.fetch(readFetch(argument), signal);
      return joinFrame({ status, headers }, body);
    },
    emit: async (argument) => services.emit(...pairOf(argument)),
    notify: async (argument) => services.notify(...pairOf(argument)),
    email: async (argument) => services.email(argument),
    respond: async (argument) => {
      const frame = splitFrame(argument);
      if (frame.body.length > MAX_OUTPUT_BYTES) throw badInput(`The response has more than ${MAX_OUTPUT_BYTES} bytes`);
      await task.send?.(readResponse(frame));
    },
  };
  const translate =
    (call: HostCall): HostCall =>
    (argument, signal) =>
      call(argument, signal).catch((error: unknown) => {
        throw hostErrorOf(platform, error, signal);
      });
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, translate(call)]));
}

/** Returns the error that a handler sees. An unexpected failure has no details. */
function hostErrorOf({ log }: Platform, error: unknown, signal: AbortSignal): HostCallError {
  if (error instanceof SqlFailure || error instanceof ApiError) return new HostCallError(error.code, error.message);
  if (!signal.aborted) log.error({ err: error }, 'A function of handlers failed');
  return new HostCallError('INTERNAL', 'The service failed');
}

const pairOf = (argument: unknown): [unknown, unknown] =>
  Array.isArray(argument) ? [argument[0] as unknown, argument[1] as unknown] : [undefined, undefined];

/** Reads a request: the length of a head in JSON, the head, and the body. */
function readFetch(argument: unknown): HandlerFetch {
  const { head, body } = splitFrame(argument);
  const { url, method, headers, hasBody, followsRedirects } = head;
  return {
    url: String(url),
    method: String(method),
    headers: Object.fromEntries(
      Object.entries(typeof headers === 'object' && headers !== null ? headers : {}).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
      ),
    ),
    body: hasBody === true ? body : null,
    followsRedirects: followsRedirects !== false,
  };
}

function splitFrame(argument: unknown): { head: Record<string, unknown>; body: Uint8Array } {
  if (!(argument instanceof Uint8Array) || argument.length < LENGTH_BYTES) throw malformed();
  const bytes = Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength);
  const start = LENGTH_BYTES + bytes.readUInt32BE(0);
  if (start > MAX_HEAD_BYTES) throw badInput(`The URL and the headers have more than ${MAX_HEAD_BYTES} bytes`);
  const head = parseJson(bytes.toString('utf8', LENGTH_BYTES, start));
  return { head: typeof head === 'object' && head !== null ? { ...head } : {}, body: argument.subarray(start) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed();
  }
}

const malformed = () => badInput('The request of `fetch` is malformed');

function joinFrame(head: object, body: Uint8Array): Uint8Array {
  const json = Buffer.from(JSON.stringify(head));
  const frame = Buffer.alloc(LENGTH_BYTES);
  frame.writeUInt32BE(json.length);
  return new Uint8Array(Buffer.concat([frame, json, body]));
}
