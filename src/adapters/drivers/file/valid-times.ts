import { quoteText } from './duckdb-session.ts';

const NAME = '[A-Za-z]+';
/** The texts that a part of a format of dates matches. */
const PARTS: Record<string, string> = {
  a: NAME,
  A: NAME,
  b: NAME,
  B: NAME,
  d: '[0-9]{1,2}',
  f: '[0-9]{1,6}',
  g: '[0-9]{1,3}',
  G: '[0-9]{1,4}',
  H: '[0-9]{1,2}',
  I: '[0-9]{1,2}',
  j: '[0-9]{1,3}',
  m: '[0-9]{1,2}',
  M: '[0-9]{1,2}',
  n: '[0-9]{1,9}',
  p: '[AaPp][Mm]',
  S: '[0-9]{1,2}',
  u: '[0-9]',
  U: '[0-9]{1,2}',
  V: '[0-9]{1,2}',
  w: '[0-9]',
  W: '[0-9]{1,2}',
  y: '[0-9]{1,2}',
  Y: '[0-9]{1,4}',
  z: '[-+][0-9:]+',
  Z: '[A-Za-z][-+A-Za-z0-9_/]*',
  '%': '%',
};
/** Parts that stand for several. */
const LONG_PARTS: Record<string, string> = {
  '%c': '%Y-%m-%d %H:%M:%S',
  '%x': '%Y-%m-%d',
  '%X': '%H:%M:%S',
  '%T': '%H:%M:%S',
};
const PART = /%-?[A-Za-z%]|[^]/g;
/** Parts that can contradict the day of the others, or name one that their year does not have: `strptime` ignores that. */
const CONTRADICTING = /^%-?[aAGjuUVwW]$/;
const DAY_PARTS = /^%-?[aAbBdGjmuUVwWyY]$/;
const ZONE_PART = /^%[zZ]$/;

/** SQL pattern of the offset of a zone from UTC. DuckDB also reads `+01:60` and `-25:00`. */
const OFFSET = '[-+](?:0?[0-9]|1[0-5])(?::?[0-5][0-9](?::?[0-5][0-9])?)?';
const UTC_NAMES = ['UTC', 'GMT', 'Z'];
/** How much later or earlier a local time can occur again when clocks change. */
const CLOCK_CHANGES = ['30 minutes', '1 hour', '2 hours'];

/** Returns SQL that states whether the offset at the end of a text is one that zones have. */
export const endsWithOffset = (text: string): string => `regexp_matches(${text}, ${quoteText(`${OFFSET}$`)})`;

/** Returns SQL that states whether the year of a text has less than four digits. DuckDB reads `24-01-05` as year 24. */
const hasShortYear = (text: string): string => `regexp_matches(${text}, '^[0-9]{1,3}([^0-9]|$)|^epoch')`;

/** Returns SQL that states whether a text in the usual form of times has neither an offset nor the name of a zone. */
const isLocal = (text: string): string => `translate((${text})[9:], '0123456789:. T', '') = ''`;

/**
 * Returns SQL of a time in UTC in the usual form. A cast to `TIMESTAMPTZ` reads a time without a zone in the zone that
 * an earlier row names.
 */
export const usualTime = (text: string): string =>
  `case when ${isLocal(text)} then cast(${text} as TIMESTAMP) else cast(${text} as TIMESTAMPTZ) at time zone 'UTC' end`;

/**
 * Returns SQL that states whether a text in the usual form is a date that is kept: with a year of four digits, and
 * nothing but midnight behind it.
 */
export const isValidDate = (text: string): string =>
  `(not ${hasShortYear(text)} and coalesce(try_cast(${text} as TIMESTAMP) = try_cast(${text} as DATE), false))`;

/** Returns SQL that states whether a text in the usual form is one time: with a year of four digits, and a known zone. */
export function isValidTime(text: string): string {
  const zoned = '^(.*[0-9]) *([A-Za-z][-+A-Za-z0-9_/]*)$';
  const part = (n: number) => `regexp_extract(${text}, ${quoteText(zoned)}, ${n})`;
  return `(not ${hasShortYear(text)} and case when ${isLocal(text)} or ${endsWithOffset(text)} then true else
    ${isOneTime(part(2), `try_cast(${part(1)} as TIMESTAMP)`, `try_cast(${text} as TIMESTAMPTZ)`)} end)`;
}

/**
 * Returns SQL that states whether a local time occurs once in a zone. Abbreviations are refused: DuckDB reads `BST` as
 * Bangladesh, and `CET` with summer time.
 */
function isOneTime(zone: string, local: string, time: string): string {
  const again = CLOCK_CHANGES.flatMap((step) => [`+ interval '${step}'`, `- interval '${step}'`]).map(
    (step) => `timezone(${zone}, ${time} ${step}) = ${local}`,
  );
  // DuckDB knows the zone of each text that it reads as a time, and fails with others.
  return `case when upper(${zone}) in (${UTC_NAMES.map(quoteText).join(', ')}) then true
    when ${time} is null or not contains(${zone}, '/') then false
    else coalesce(timezone(${zone}, ${time}) = ${local} and not (${again.join(' or ')}), false) end`;
}

/**
 * Returns SQL that states whether a text in a format of dates is the time that `strptime` reads; `time` is SQL of it.
 * Neither `2023-366` as `%Y-%j` nor the hour that a zone leaves out is one.
 */
export function isValidIn(text: string, format: string): string {
  const parts = format.replace(/%[cxXT]/g, (part) => LONG_PARTS[part]!).match(PART) ?? [];
  const zone = parts.findIndex((part) => ZONE_PART.test(part));
  const checksDay = parts.some((part) => CONTRADICTING.test(part));
  if (zone < 0 && !checksDay) return 'true';
  const read = (one: string, of: readonly string[]) => `try_strptime(${one}, ${quoteText(of.join(''))})`;
  const checks: string[] = [];
  let local = read(text, parts);
  if (zone >= 0) {
    const name = partOf(text, parts, zone);
    const rest = parts.toSpliced(zone, 1);
    const [before, after] = [parts.slice(0, zone), parts.slice(zone + 1)].map(patternOf);
    const pattern = `^(\\s*${before!})${patternOf([parts[zone]!])}(${after!}\\s*)$`;
    local = read(`regexp_replace(${text}, ${quoteText(pattern)}, '\\1\\2')`, rest);
    if (parts[zone] === '%z') checks.push(`regexp_full_match(${name}, ${quoteText(OFFSET)})`);
    else checks.push(isOneTime(name, local, read(text, parts)));
  }
  if (checksDay)
    parts.forEach((part, i) => {
      if (!DAY_PARTS.test(part)) return;
      const written = partOf(text, parts, i);
      const found = `strftime(${local}, ${quoteText(part)})`;
      const isName = /[aAbB]$/.test(part);
      checks.push(
        isName
          ? `lower(${written}) = lower(${found})`
          : `try_cast(${written} as INTEGER) = try_cast(${found} as INTEGER)`,
      );
    });
  return `coalesce(${checks.join(' and ')}, false)`;
}

/** Returns SQL of the text of a part of a format. */
function partOf(text: string, parts: readonly string[], i: number): string {
  const pattern = `^\\s*${patternOf(parts.slice(0, i))}(${patternOf([parts[i]!])})${patternOf(parts.slice(i + 1))}\\s*$`;
  return `regexp_extract(${text}, ${quoteText(pattern)}, 1)`;
}

const patternOf = (parts: readonly string[]): string =>
  parts
    .map((part) => {
      if (part.length > 1) return PARTS[part.at(-1)!] ?? '.*';
      return part.trim() === '' ? String.raw`\s*` : part.replace(/[.*+?^${}()|[\]\\]/, String.raw`\$&`);
    })
    .join('');
