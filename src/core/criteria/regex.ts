import { badInput } from '../errors.ts';

/** Inclusive range of code points. */
export type CodeRange = readonly [from: number, to: number];

/** A regular expression of the portable subset. A literal is a set of one; `.` is the set of all but newline. */
export type PortableRegex =
  | { kind: 'set'; negated: boolean; ranges: CodeRange[] }
  | { kind: 'start' | 'end' }
  | { kind: 'sequence' | 'alternatives'; nodes: PortableRegex[] }
  /** Null means no maximum. */
  | { kind: 'repeat'; node: PortableRegex; min: number; max: number | null };

const MAX_LENGTH = 1000;
/** Maximum number of sets with counted repetitions written out, which a matcher has to build. */
const MAX_SIZE = 1000;
const MAX_GROUPS_DEEP = 50;

const code = (character: string) => character.codePointAt(0)!;
const range = (from: string, to = from): CodeRange => [code(from), code(to)];

const CLASSES: Record<string, CodeRange[]> = {
  d: [range('0', '9')],
  w: [range('0', '9'), range('A', 'Z'), range('_'), range('a', 'z')],
  s: [range('\t', '\r'), range(' ')],
};
const NEWLINE: CodeRange[] = [range('\n')];
const PUNCTUATION = /^[!-/:-@[-`{-~]$/;

/**
 * Parses the portable subset of docs/contract/datasets.md#criteria: literals, classes, `\d \w \s` as ASCII, `.` for any
 * code point but newline, `* + ? {m,n} | ( )`, and `^ $` for the ends of the whole text. After a backslash, ASCII
 * punctuation is literal. Only syntax with the same meaning in every index is accepted.
 *
 * Throws BAD_USER_INPUT naming the unsupported part and its position.
 */
export function parsePortableRegex(source: string): PortableRegex {
  if (source.length > MAX_LENGTH) throw badInput(`$regex is longer than ${MAX_LENGTH} characters`);
  if (!source.isWellFormed()) throw badInput('$regex is not well-formed Unicode');
  const reader = new Reader(source);
  const parsed = alternatives(reader, 0);
  if (reader.peek() !== undefined) throw reader.refuse('an unmatched )');
  if (regexSize(parsed) > MAX_SIZE)
    throw badInput(`$regex repeats too much: it has more than ${MAX_SIZE} parts when its repetitions are written out`);
  return parsed;
}

class Reader {
  private readonly characters: string[];
  private position = 0;

  constructor(source: string) {
    this.characters = Array.from(source);
  }

  peek(ahead = 0): string | undefined {
    return this.characters[this.position + ahead];
  }

  next(): string | undefined {
    return this.characters[this.position++];
  }

  /** Consumes the character if it is next. */
  eat(character: string): boolean {
    if (this.peek() !== character) return false;
    this.position++;
    return true;
  }

  refuse(what: string) {
    return badInput(`$regex has ${what} at character ${this.position + 1}, which is outside the supported subset`);
  }
}

function alternatives(reader: Reader, depth: number): PortableRegex {
  if (depth > MAX_GROUPS_DEEP) throw reader.refuse(`groups nested deeper than ${MAX_GROUPS_DEEP}`);
  const nodes = [sequence(reader, depth)];
  while (reader.eat('|')) nodes.push(sequence(reader, depth));
  return nodes.length === 1 ? nodes[0]! : { kind: 'alternatives', nodes };
}

function sequence(reader: Reader, depth: number): PortableRegex {
  const nodes: PortableRegex[] = [];
  for (let next = reader.peek(); next !== undefined && next !== '|' && next !== ')'; next = reader.peek())
    nodes.push(repetition(reader, depth));
  return nodes.length === 1 ? nodes[0]! : { kind: 'sequence', nodes };
}

function repetition(reader: Reader, depth: number): PortableRegex {
  const node = atom(reader, depth);
  const times = quantifier(reader);
  if (!times) return node;
  if (node.kind === 'start' || node.kind === 'end') throw reader.refuse('a repeated ^ or $');
  if ('*+?{'.includes(reader.peek() ?? ' ')) throw reader.refuse('a quantifier after a quantifier');
  return { kind: 'repeat', node, ...times };
}

function atom(reader: Reader, depth: number): PortableRegex {
  const next = reader.peek()!;
  if ('*+?{}]'.includes(next)) throw reader.refuse(`a ${next} that is not escaped`);
  reader.next();
  switch (next) {
    case '^':
      return { kind: 'start' };
    case '$':
      return { kind: 'end' };
    case '.':
      return { kind: 'set', negated: true, ranges: NEWLINE };
    case '[':
      return set(reader);
    case '(':
      return group(reader, depth);
    case '\\':
      return { kind: 'set', negated: false, ranges: escaped(reader) };
    default:
      return { kind: 'set', negated: false, ranges: [range(next)] };
  }
}

function group(reader: Reader, depth: number): PortableRegex {
  if (reader.peek() === '?') throw reader.refuse('a (?');
  const node = alternatives(reader, depth + 1);
  if (!reader.eat(')')) throw reader.refuse('an unclosed (');
  return node;
}

function quantifier(reader: Reader): { min: number; max: number | null } | undefined {
  if (reader.eat('*')) return { min: 0, max: null };
  if (reader.eat('+')) return { min: 1, max: null };
  if (reader.eat('?')) return { min: 0, max: 1 };
  if (!reader.eat('{')) return undefined;
  const min = count(reader);
  const max = reader.eat(',') ? (reader.peek() === '}' ? null : count(reader)) : min;
  if (!reader.eat('}')) throw reader.refuse('an unclosed {');
  if (max !== null && max < min) throw reader.refuse('a repetition whose bounds are out of order');
  return { min, max };
}

function count(reader: Reader): number {
  let digits = '';
  while (/^\d$/.test(reader.peek() ?? '') && digits.length < 4) digits += reader.next();
  if (digits === '' || Number(digits) > MAX_SIZE)
    throw reader.refuse(`a repetition that is not a number up to ${MAX_SIZE}`);
  return Number(digits);
}

function escaped(reader: Reader): CodeRange[] {
  const next = reader.next() ?? '';
  if (Object.hasOwn(CLASSES, next)) return CLASSES[next]!;
  if (PUNCTUATION.test(next)) return [range(next)];
  throw reader.refuse(`the escape \\${next}`);
}

function set(reader: Reader): PortableRegex {
  const negated = reader.eat('^');
  const ranges: CodeRange[] = [];
  while (!reader.eat(']')) {
    const from = member(reader, ranges.length === 0);
    const isRange = reader.peek() === '-' && reader.peek(1) !== ']';
    if (!isRange) {
      ranges.push(...from);
      continue;
    }
    reader.next();
    const to = member(reader, false);
    if (from.length !== 1 || to.length !== 1 || !single(from[0]!) || !single(to[0]!) || from[0]![0] > to[0]![0])
      throw reader.refuse('a range in a class that is out of order or ends in a class');
    ranges.push([from[0]![0], to[0]![0]]);
  }
  if (ranges.length === 0) throw reader.refuse('an empty class');
  return { kind: 'set', negated, ranges };
}

const single = ([from, to]: CodeRange) => from === to;

function member(reader: Reader, first: boolean): CodeRange[] {
  const next = reader.next();
  if (next === undefined) throw reader.refuse('an unclosed [');
  if (next === '\\') return escaped(reader);
  if (next === '[') throw reader.refuse('a [ in a class that is not escaped');
  if (next === '-' && !first && reader.peek() !== ']')
    throw reader.refuse('a - in a class that is neither escaped, first nor last');
  return [range(next)];
}

/** Returns the number of parts with counted repetitions written out. */
export function regexSize(node: PortableRegex): number {
  switch (node.kind) {
    case 'sequence':
    case 'alternatives':
      return node.nodes.reduce((sum, inner) => sum + regexSize(inner), 1);
    case 'repeat':
      return regexSize(node.node) * Math.max(1, node.max ?? node.min);
    default:
      return 1;
  }
}
