import type { Bridge, GuestLimits } from './bridge.ts';
import { asText, bareObject, bytesOf, isArray, ownKeys, SavedError, sizeOf, sliceText, stringify } from './saved.ts';

const MAX_STACK_CHARACTERS = 4000;
const MAX_NAME_CHARACTERS = 100;
/** Maximum number of properties that cross unchanged, and length of their names. Others are part of the JSON. */
const MAX_FLAT = 100;
const MAX_KEY_CHARACTERS = 255;

/**
 * Splits the result of `main` into texts and bytes, which cross to the process unchanged, and the JSON of everything
 * else. Ends the program if it is too large.
 */
export function packOutput(value: unknown, { exceed }: Bridge, { outputBytes }: GuestLimits): object {
  const flat = bareObject();
  let size = 0;
  const addSize = (bytes: number): void => {
    size += bytes;
    if (size <= outputBytes) return;
    const message = `The output has more than ${outputBytes} bytes`;
    exceed('output', message);
    throw new SavedError(message);
  };
  let count = 0;
  const addFlat = (key: string, candidate: unknown): boolean => {
    if (count === MAX_FLAT || key.length > MAX_KEY_CHARACTERS) return false;
    const found = typeof candidate === 'string' ? candidate : bytesOf(candidate);
    if (found === undefined) return false;
    count++;
    addSize(typeof found === 'string' ? found.length : sizeOf(found));
    flat[key] = found;
    return true;
  };
  let json: string | null = null;
  if (!addFlat('', value)) {
    json = stringify(isRecord(value) ? withoutFlat(value, addFlat) : value) ?? 'null';
    addSize(json.length);
  }
  return { __proto__: null, json, flat } as object;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !isArray(value) && !('toJSON' in value);

/** Returns the properties of an object that `addFlat` does not take. */
function withoutFlat(value: Record<string, unknown>, addFlat: (key: string, value: unknown) => boolean): object {
  const rest = bareObject();
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (typeof key !== 'string') continue;
    const property = value[key];
    if (key === '' || !addFlat(key, property)) rest[key] = property;
  }
  return rest;
}

const { toString: plainText } = Object.prototype;

/** Returns the text of a value that is not an error: the JSON of a plain object. */
function textOf(value: unknown): string {
  try {
    const hasOwnText = !isArray(value) && isRecord(value) && 'toString' in value && value['toString'] !== plainText;
    if ((isRecord(value) || isArray(value)) && !hasOwnText) return stringify(value) ?? asText(value);
  } catch {
    // It is cyclic.
  }
  return asText(value);
}

/** Returns the bounded texts of an error: its name and message, and the frames of its stack. */
export function describeError(error: unknown, { messageCharacters }: GuestLimits): object {
  let message = 'The program threw a value that has no text';
  let stack = '';
  try {
    if (error instanceof SavedError) {
      const { name, message: text, stack: trace } = error;
      const named = typeof name === 'string' && name !== 'Error' ? `${sliceText(name, 0, MAX_NAME_CHARACTERS)}: ` : '';
      message = named + sliceText(asText(text), 0, messageCharacters);
      // The frames follow the message, which may have any length and lines that look like frames.
      const start = typeof text === 'string' ? text.length : 0;
      if (typeof trace === 'string' && trace.length > start)
        stack = sliceText(trace, start, start + MAX_STACK_CHARACTERS);
    } else message = sliceText(textOf(error), 0, messageCharacters);
  } catch {
    // The error has no text.
  }
  return { __proto__: null, message, stack } as object;
}
