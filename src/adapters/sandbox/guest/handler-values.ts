import { native } from './native.ts';

/** Adds `get(name)` to headers, which `for … in` does not list. */
export const addGet = (headers: Record<string, string>): object =>
  Object.defineProperty(headers, 'get', {
    value: (name: unknown) => {
      const key = String(name).toLowerCase();
      return Object.hasOwn(headers, key) && key !== 'get' ? headers[key] : null;
    },
  });

/** Returns an object of names and values. A name that occurs several times has a list. */
export function collect(pairs: readonly [string, unknown][]): object {
  const values = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const [name, value] of pairs) {
    if (repeated.has(name)) (values.get(name) as unknown[]).push(value);
    else if (values.has(name)) {
      values.set(name, [values.get(name), value]);
      repeated.add(name);
    } else values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** Size of the length of a head. */
export const LENGTH_BYTES = 4;

/**
 * Joins a head and a body to one list of bytes, a frame: the length of the head in JSON, the head, and the unchanged
 * body.
 */
export function joinFrame(head: object, body: Uint8Array): Uint8Array {
  const json = native('encode', JSON.stringify(head)) as Uint8Array;
  const bytes = new Uint8Array(LENGTH_BYTES + json.length + body.length);
  new DataView(bytes.buffer).setUint32(0, json.length);
  bytes.set(json, LENGTH_BYTES);
  bytes.set(body, LENGTH_BYTES + json.length);
  return bytes;
}
