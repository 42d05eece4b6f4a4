import type { Bridge, GuestLimits } from './bridge.ts';
import { tooManyBytes, tooManyCalls } from './call-limits.ts';
import {
  bareObject,
  bytesOf,
  defineProperty,
  freeze,
  indexOf,
  parse,
  SavedError,
  SavedPromise,
  sizeOf,
  sliceText,
  stringify,
} from './saved.ts';

interface Flat {
  kind: 'text' | 'bytes' | 'json';
  value: string | Uint8Array;
}
interface Waiting {
  start(): void;
  next: Waiting | null;
}

const COPY = freeze({ __proto__: null, copy: true });
const LATER = freeze({
  __proto__: null,
  arguments: COPY,
  result: freeze({ __proto__: null, promise: true, copy: true }),
});
const NOW = freeze({ __proto__: null, arguments: COPY });

/** Creates the object `host` with a function for each host call. */
export function createHost(bridge: Bridge, limits: GuestLimits): Record<string, unknown> {
  const { flatten } = new CallBudget(bridge, limits);
  const enter = createQueue(limits.callsAtOnce);
  const callLater = async (name: string, argument: unknown): Promise<unknown> => {
    // The place of the call in the program: a promise that is returned without await leaves no trace of its function.
    const site = new SavedError();
    const { kind, value } = flatten(argument);
    const leave = await enter();
    try {
      return unpack(await bridge.call.apply(undefined, [name, kind, value, false], LATER), site);
    } finally {
      leave();
    }
  };
  const callNow = (name: string, argument: unknown): unknown => {
    const { kind, value } = flatten(argument);
    const reply = bridge.call.applySyncPromise(undefined, [name, kind, value, true], NOW);
    const result = typeof reply === 'object' && reply !== null ? (reply as { copy(): unknown }).copy() : reply;
    return unpack(result, new SavedError());
  };
  const host = bareObject();
  for (let i = 0; i < limits.calls.length; i++) {
    const name = limits.calls[i]!;
    const method = (argument: unknown) => callLater(name, argument);
    method.sync = (argument: unknown) => callNow(name, argument);
    host[name] = freeze(method);
  }
  return host;
}

/** Counts host calls and the bytes of their arguments, and ends the program that exceeds its limits. */
class CallBudget {
  readonly flatten: (argument: unknown) => Flat;

  constructor({ exceed }: Bridge, { hostCalls, hostBytes }: GuestLimits) {
    let calls = 0;
    let bytes = 0;
    const stop = (message: string) => {
      exceed('host-calls', message);
      throw new SavedError(message);
    };
    this.flatten = (argument) => {
      if (++calls > hostCalls) stop(tooManyCalls(hostCalls));
      const flat = flattenArgument(argument);
      bytes += typeof flat.value === 'string' ? flat.value.length : sizeOf(flat.value);
      if (bytes > hostBytes) stop(tooManyBytes(hostBytes));
      return flat;
    };
  }
}

function flattenArgument(argument: unknown): Flat {
  if (typeof argument === 'string') return { kind: 'text', value: argument };
  const bytes = bytesOf(argument);
  return bytes ? { kind: 'bytes', value: bytes } : { kind: 'json', value: stringify(argument) ?? 'null' };
}

/** Returns the result of a host call. The first character of a text is its kind. */
function unpack(reply: unknown, site: Error): unknown {
  if (typeof reply !== 'string') return reply;
  const kind = sliceText(reply, 0, 1);
  const text = sliceText(reply, 1);
  if (kind === 'E') throw callError(text, site);
  return kind === 'J' ? parse(text) : text;
}

/** Returns the error of a host call, with the stack of its call. The first line of the text is its code, which may be ''. */
function callError(text: string, site: Error): Error {
  const end = indexOf(text, '\n');
  const code = sliceText(text, 0, end);
  const message = sliceText(text, end + 1);
  const error = new SavedError(message);
  const { stack } = site;
  if (typeof stack === 'string') error.stack = `Error: ${message}${sliceText(stack, 'Error'.length)}`;
  if (code !== '') defineProperty(error, 'code', { ...bareObject(), value: code, writable: true, configurable: true });
  return error;
}

/** Returns a function that waits for one of the places, and returns the function that frees it. */
function createQueue(places: number): () => Promise<() => void> {
  let running = 0;
  let first: Waiting | null = null;
  let last: Waiting | null = null;
  const leave = (): void => {
    running -= 1;
    const next = first;
    if (!next) return;
    first = next.next;
    if (!first) last = null;
    next.start();
  };
  return async () => {
    if (running >= places)
      await new SavedPromise<void>((resolve) => {
        const waiting: Waiting = { start: resolve, next: null };
        if (last) last.next = waiting;
        else first = waiting;
        last = waiting;
      });
    running += 1;
    return leave;
  };
}
