import { MASK } from '../../core/mask.ts';

/** Minimum length of the values that are replaced. Shorter ones, such as `1` or `yes`, also occur in texts by chance. */
const MIN_CHARACTERS = 4;

/** Returns a function that replaces the values of an environment in texts, also as they are in JSON. */
export function createRedaction(values: readonly string[]): (text: string) => string {
  const forms = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
  const secrets = [...new Set(forms)].filter((value) => value.length >= MIN_CHARACTERS);
  return (text) => {
    const found = secrets.flatMap((secret) => rangesOf(text, secret)).toSorted((one, other) => one[0] - other[0]);
    let redacted = '';
    let at = 0;
    for (const [start, end] of found) {
      if (start >= at) redacted += text.slice(at, start) + MASK;
      at = Math.max(at, end);
    }
    return redacted + text.slice(at);
  };
}

/** Returns where a text occurs in another one. Occurrences may overlap. */
function rangesOf(text: string, part: string): [start: number, end: number][] {
  const ranges: [number, number][] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) ranges.push([at, at + part.length]);
  return ranges;
}
