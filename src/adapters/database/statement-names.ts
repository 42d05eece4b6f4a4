import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/**
 * A connection keeps its prepared statements until it closes, so their number is limited. Further statements run
 * unprepared. Texts that depend on the selections of callers have their own limit.
 */
const MAX_PREPARED_STATEMENTS = 1000;

const names = { constant: new Map<string, string>(), selected: new Map<string, string>() };
const usedOnce = new LRUCache<string, true>({ max: 2000 });

/**
 * Returns the name under which connections prepare a statement, from its second use on. Returns undefined for its first
 * use, so that statements that run once are not kept.
 */
export function statementName(text: string, isSelected = false): string | undefined {
  const known = names[isSelected ? 'selected' : 'constant'];
  const name = known.get(text);
  if (name !== undefined) return name;
  if (known.size >= MAX_PREPARED_STATEMENTS) return undefined;
  if (!usedOnce.has(text)) {
    usedOnce.set(text, true);
    return undefined;
  }
  const newName = `dws_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  usedOnce.delete(text);
  known.set(text, newName);
  return newName;
}
