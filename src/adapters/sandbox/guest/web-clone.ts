/** Returns a deep copy of values, lists, objects, dates, maps, sets, errors, expressions and bytes. Throws for others. */
export const structuredClone = (value: unknown): unknown => clone(value, new Map());

function clone(value: unknown, copies: Map<object, object>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError('Functions cannot be cloned');
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known) return known;
  const keep = <T extends object>(copy: T): T => {
    copies.set(value, copy);
    return copy;
  };
  if (value instanceof Date) return keep(new Date(value));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) return keep(cloneView(value, copies));
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [key, item] of value) copy.set(clone(key, copies), clone(item, copies));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const item of value) copy.add(clone(item, copies));
    return copy;
  }
  if (value instanceof Error) return keep(Object.assign(new Error(value.message), { name: value.name }));
  const copy = keep(Array.isArray(value) ? Object.assign([], { length: value.length }) : {}) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value))
    Object.defineProperty(copy, key, {
      value: clone(item, copies),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  return copy;
}

function cloneView(view: ArrayBufferView, copies: Map<object, object>): object {
  const View = view.constructor as new (buffer: unknown, offset: number, length?: number) => object;
  const { length } = view as unknown as { length?: number };
  return new View(clone(view.buffer, copies), view.byteOffset, length ?? view.byteLength);
}
