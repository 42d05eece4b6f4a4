import { setImmediate } from 'node:timers/promises';

/** Number of elements of a list that are turned into JSON in one turn of the event loop. */
const ELEMENTS_PER_TURN = 500;

/** Returns the JSON of values that may contain long lists, in several turns of the event loop. */
export async function stringifyInTurns(value: unknown, levels = 3): Promise<string> {
  if (levels === 0 || typeof value !== 'object' || value === null || 'toJSON' in value)
    return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return stringifyList(value);
  const parts: string[] = [];
  for (const [key, inner] of Object.entries(value))
    if (inner !== undefined) parts.push(`${JSON.stringify(key)}:${await stringifyInTurns(inner, levels - 1)}`);
  return `{${parts.join(',')}}`;
}

async function stringifyList(list: readonly unknown[]): Promise<string> {
  if (list.length <= ELEMENTS_PER_TURN) return JSON.stringify(list);
  const parts: string[] = [];
  for (let at = 0; at < list.length; at += ELEMENTS_PER_TURN) {
    parts.push(JSON.stringify(list.slice(at, at + ELEMENTS_PER_TURN)).slice(1, -1));
    await setImmediate();
  }
  return `[${parts.join(',')}]`;
}
