/**
 * Functions of the language, saved before a program can replace them, and helpers that use only these. This folder runs
 * inside the isolate of a program. Objects without prototype are out of reach of changed prototypes.
 */
export const { stringify, parse } = JSON;
export const { apply, ownKeys } = Reflect;
export const { freeze, defineProperty } = Object;
export const { isArray } = Array;
export const asText = String;
export const toNumber = Number;
export const SavedError = Error;
export const SavedRangeError = RangeError;
export const SavedTypeError = TypeError;
export const SavedPromise = Promise;

const { getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { isView } = ArrayBuffer;
const { slice, indexOf: indexInText } = String.prototype;
const Bytes = Uint8Array;
const getByteLength = getOwnPropertyDescriptor(getPrototypeOf(Bytes.prototype)!, 'byteLength')!.get!;
const getBufferLength = getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength')!.get!;

/** Returns an object without prototype that has the values. */
export const bareObject = (): Record<string, unknown> => ({ __proto__: null }) as unknown as Record<string, unknown>;

export const sliceText = (text: string, start: number, end?: number): string =>
  apply(slice, text, end === undefined ? [start] : [start, end]) as string;

export const indexOf = (text: string, part: string): number => apply(indexInText, text, [part]) as number;

/** Returns the number of bytes of a typed array. */
export const sizeOf = (bytes: Uint8Array): number => apply(getByteLength, bytes, []) as number;

/** Returns a copy of a typed array with a separate buffer. */
export const copyOf = (bytes: Uint8Array): Uint8Array => new Bytes(bytes);

/** Returns the value if it is a typed array, the bytes of a buffer, and undefined for other values. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    if (isView(value)) {
      apply(getByteLength, value, []);
      return value as Uint8Array;
    }
    apply(getBufferLength, value, []);
    return new Bytes(value as ArrayBuffer);
  } catch {
    return undefined;
  }
}
