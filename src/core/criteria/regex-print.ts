import type { CodeRange, PortableRegex } from './regex.ts';

/**
 * Returns the expression in RE2's syntax, for use without flags. Case insensitivity is written into the sets, because
 * RE2's own flag would also match the long s and the Kelvin sign; `\s` and `.` are written out, because RE2 defines
 * them differently.
 */
export function toRe2(node: PortableRegex, insensitive: boolean): string {
  switch (node.kind) {
    case 'start':
      return '\\A';
    case 'end':
      return '\\z';
    case 'sequence':
      return node.nodes
        .map((inner) =>
          inner.kind === 'alternatives' ? `(?:${toRe2(inner, insensitive)})` : toRe2(inner, insensitive),
        )
        .join('');
    case 'alternatives':
      return node.nodes.map((inner) => toRe2(inner, insensitive)).join('|');
    case 'repeat':
      return `(?:${toRe2(node.node, insensitive)})${bounds(node)}`;
    case 'set':
      return re2Set(node.negated, insensitive ? node.ranges.flatMap(bothCases) : node.ranges);
  }
}

/** Returns a quantifier in the syntax that all engines share. */
export function bounds({ min, max }: { min: number; max: number | null }): string {
  if (max === null) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  return min === 0 && max === 1 ? '?' : `{${min},${max}}`;
}

function re2Set(negated: boolean, ranges: readonly CodeRange[]): string {
  const point = (value: number) => `\\x{${value.toString(16)}}`;
  return `[${negated ? '^' : ''}${ranges.map(([from, to]) => (from === to ? point(from) : `${point(from)}-${point(to)}`)).join('')}]`;
}

/** Returns the range and its ASCII letters in the other case. */
export function bothCases(original: CodeRange): CodeRange[] {
  const shifted = (first: string, last: string, by: number): CodeRange[] => {
    const from = Math.max(original[0], first.charCodeAt(0));
    const to = Math.min(original[1], last.charCodeAt(0));
    return from <= to ? [[from + by, to + by]] : [];
  };
  return [original, ...shifted('A', 'Z', 32), ...shifted('a', 'z', -32)];
}
