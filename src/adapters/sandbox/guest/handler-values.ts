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
