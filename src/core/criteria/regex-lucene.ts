import { badInput } from '../errors.ts';
import { bothCases, bounds } from './regex-print.ts';
import type { CodeRange, PortableRegex } from './regex.ts';

/** A Lucene expression, which always matches a whole text. Alternatives are in parentheses. */
interface Language {
  pattern: string;
  /** Whether it matches the empty text. */
  nullable: boolean;
}

/**
 * Lucene has no anchors. Expressions are therefore separated by the anchors on their path. Index 0 has no anchor.
 * Expressions at START must begin where the text begins, at END they must end where it ends, and at START + END both
 * apply. Nothing can precede START or follow END.
 */
type Anchored = (Language | undefined)[];

const START = 1;
const END = 2;
const EMPTY: Language = { pattern: '()', nullable: true };
const ANYTHING = '.*';

/** Maximum length. Longer expressions can exhaust the stack of Lucene's parser, which ends the whole engine. */
const MAX_LENGTH = 10_000;

/**
 * Returns the expression in Lucene's syntax, for the flag `NONE`; null if it matches no text. Case insensitivity is
 * written into the sets.
 *
 * Throws BAD_USER_INPUT when anchors multiply the expression too much.
 */
export function toLucene(node: PortableRegex, insensitive: boolean): string | null {
  const whole = anchored(node, insensitive).map(
    (language, flags) =>
      language && `${flags & START ? '' : ANYTHING}${language.pattern}${flags & END ? '' : ANYTHING}`,
  );
  const patterns = whole.filter((pattern) => pattern !== undefined);
  return patterns.length === 0 ? null : checked(patterns.join('|'));
}

function checked(pattern: string): string {
  if (pattern.length > MAX_LENGTH) throw badInput('$regex is too complex for the dataset index');
  return pattern;
}

function anchored(node: PortableRegex, insensitive: boolean): Anchored {
  switch (node.kind) {
    case 'start':
      return [undefined, EMPTY];
    case 'end':
      return [undefined, undefined, EMPTY];
    case 'set':
      return [
        { pattern: set(node.negated, insensitive ? node.ranges.flatMap(bothCases) : node.ranges), nullable: false },
      ];
    case 'sequence':
      return node.nodes.map((inner) => anchored(inner, insensitive)).reduce(followed, [EMPTY]);
    case 'alternatives':
      return either(node.nodes.map((inner) => anchored(inner, insensitive)));
    case 'repeat':
      return repeated(anchored(node.node, insensitive), node);
  }
}

/** Returns the concatenation of two expressions. */
function followed(first: Anchored, second: Anchored): Anchored {
  const found: Anchored[] = [];
  first.forEach((left, before) =>
    second.forEach((right, after) => {
      if (!left || !right) return;
      // Past END and before START only the empty text matches.
      if ((before & END && !right.nullable) || (after & START && !left.nullable)) return;
      found.push(only(before | after, joined(after & START ? EMPTY : left, before & END ? EMPTY : right)));
    }),
  );
  return either(found);
}

const only = (flags: number, language: Language): Anchored => [
  ...Array.from({ length: flags }, () => undefined),
  language,
];

const joined = (left: Language, right: Language): Language =>
  left === EMPTY
    ? right
    : right === EMPTY
      ? left
      : { pattern: checked(left.pattern + right.pattern), nullable: left.nullable && right.nullable };

function either(choices: Anchored[]): Anchored {
  return [0, START, END, START + END].map((flags) => {
    const languages = choices.flatMap((choice) => choice[flags] ?? []);
    const patterns = [...new Set(languages.map(({ pattern }) => pattern))];
    if (patterns.length <= 1) return languages[0];
    return { pattern: checked(`(${patterns.join('|')})`), nullable: languages.some(({ nullable }) => nullable) };
  });
}

interface Times {
  min: number;
  max: number | null;
}

/**
 * Returns a repetition. Only the first of several matches may begin at START, and only the last may end at END.
 * Matches of an anchor alone count toward the minimum.
 */
function repeated(node: Anchored, { min, max }: Times): Anchored {
  if (max === 0) return [EMPTY];
  const fills = (...flags: number[]) => flags.some((one) => node[one]?.nullable);
  const among = (least: number, others: number): Anchored =>
    plainTimes(node, { min: Math.max(0, least - others), max: max === null ? null : max - others });
  const [opening, closing] = [
    [undefined, node[START]],
    [undefined, undefined, node[END]],
  ];
  const [least, leastOpened, leastClosed, leastWhole] = [
    fills(0) ? 0 : min,
    fills(0, START) ? 0 : min,
    fills(0, END) ? 0 : min,
    fills(0, START, END) ? 0 : min,
  ];
  const choices = [among(least, 0), followed(opening, among(leastOpened, 1)), followed(among(leastClosed, 1), closing)];
  if (max === null || max > 1) choices.push(followed(opening, followed(among(leastWhole, 2), closing)));
  const whole = node[START + END];
  if (whole && leastWhole <= 1) choices.push(only(START + END, whole));
  if (fills(START + END)) choices.push(only(START + END, EMPTY));
  return either(choices);
}

/** Returns the repetition of matches without an anchor. */
function plainTimes([plain]: Anchored, { min, max }: Times): Anchored {
  if (plain) return [times(plain, { min, max })];
  return min === 0 ? [EMPTY] : [];
}

function times(language: Language, { min, max }: Times): Language {
  if (max === 0 || language === EMPTY) return EMPTY;
  if (min === 1 && max === 1) return language;
  return { pattern: checked(`(${language.pattern})${bounds({ min, max })}`), nullable: min === 0 || language.nullable };
}

function set(negated: boolean, ranges: readonly CodeRange[]): string {
  const [first] = ranges;
  if (!negated && ranges.length === 1 && first![0] === first![1]) return literal(first![0]);
  return `[${negated ? '^' : ''}${ranges.map(([from, to]) => (from === to ? literal(from) : `${literal(from)}-${literal(to)}`)).join('')}]`;
}

/** Escapes a character. After a backslash, any character except letters and digits is literal. */
function literal(code: number): string {
  const character = String.fromCodePoint(code);
  return /^[!-/:-@[-`{-~]$/.test(character) ? `\\${character}` : character;
}
