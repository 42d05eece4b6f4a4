import { badInput } from '../errors.ts';

/** Token of an expression. `name` is the name of a field or function; a name in backquotes is always a field. */
export type Token =
  | { kind: 'number'; value: number; at: number }
  | { kind: 'string' | 'name' | 'field' | 'symbol'; value: string; at: number }
  | { kind: 'end'; at: number };

const MAX_LENGTH = 4000;
const SPACE = /\s+/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const STRING = /'((?:[^']|'')*)'|"((?:[^"]|"")*)"/y;
const FIELD = /`((?:[^`]|``)+)`/y;
const SYMBOL = /<=|>=|!=|<>|==|[-+*/%<>=(),]/y;

/** Returns the tokens of an expression. The last one is `end`. */
export function tokens(text: string): Token[] {
  if (text.length > MAX_LENGTH) throw badInput(`An expression has at most ${MAX_LENGTH} characters`);
  const found: Token[] = [];
  for (let at = 0; at < text.length;) {
    const space = match(SPACE, text, at);
    if (space) {
      at += space[0].length;
      continue;
    }
    const [token, length] = nextToken(text, at);
    found.push(token);
    at += length;
  }
  return [...found, { kind: 'end', at: text.length }];
}

function nextToken(text: string, at: number): [Token, number] {
  const number = match(NUMBER, text, at);
  if (number) return [{ kind: 'number', value: finite(Number(number[0])), at }, number[0].length];
  const name = match(NAME, text, at);
  if (name) return [{ kind: 'name', value: name[0], at }, name[0].length];
  const string = match(STRING, text, at);
  if (string)
    return [
      { kind: 'string', value: string[1]?.replaceAll("''", "'") ?? string[2]!.replaceAll('""', '"'), at },
      string[0].length,
    ];
  const field = match(FIELD, text, at);
  if (field) return [{ kind: 'field', value: field[1]!.replaceAll('``', '`'), at }, field[0].length];
  const symbol = match(SYMBOL, text, at);
  if (symbol) return [{ kind: 'symbol', value: symbol[0], at }, symbol[0].length];
  throw badInput(
    `The expression has an unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at)!))} at character ${at + 1}`,
  );
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw badInput('The expression has a number that is too large');
  return value;
}

function match(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}
