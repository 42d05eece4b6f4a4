import leven from 'leven';
import { badInput, type ApiError } from './errors.ts';

/**
 * Longest name that is compared with known ones, and maximum number of known ones: comparing takes time for each pair.
 */
const MAX_CHARACTERS = 100;
const MAX_NAMES = 1000;
/** Part of the characters of a name that a similar one may change. */
const MAX_CHANGE = 0.4;

/**
 * Returns the error for an unknown name, e.g. `Unknown field "contry". Did you mean "country"?`, with an issue of the
 * code `unknown`. `kind` is the kind of the name, `where` follows the name. Pass only known names that the caller may
 * see.
 */
export function unknownName(kind: string, name: string, known: readonly string[], where = ''): ApiError {
  const shown = name.slice(0, MAX_CHARACTERS);
  const similar = mostSimilar(shown, known);
  const hint = similar === undefined ? '' : `. Did you mean ${JSON.stringify(similar)}?`;
  const message = `Unknown ${kind} ${JSON.stringify(shown)}${where}${hint}`;
  return badInput(message, { validation: [{ path: [], message, code: 'unknown' }] });
}

/** Returns the known name that differs least, ignoring case and the `$` of operators; undefined if none is similar. */
function mostSimilar(name: string, known: readonly string[]): string | undefined {
  const wanted = simplified(name);
  let most = Math.floor(wanted.length * MAX_CHANGE);
  let found: string | undefined;
  for (const candidate of known.slice(0, MAX_NAMES)) {
    if (candidate.length > MAX_CHARACTERS) continue;
    const distance = leven(wanted, simplified(candidate), { maxDistance: most + 1 });
    if (distance > most) continue;
    found = candidate;
    if (distance === 0) break;
    most = distance - 1;
  }
  return found;
}

const simplified = (name: string): string => name.toLowerCase().replace(/^\$/, '');
