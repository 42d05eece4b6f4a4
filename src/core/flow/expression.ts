import { badInput } from '../errors.ts';
import { FUNCTIONS } from './functions.ts';
import type { FunctionName } from './functions.ts';
import { tokens } from './tokens.ts';
import type { Token } from './tokens.ts';

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** A parsed expression of a `calculate` step, not yet checked against fields. */
export type Expression =
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'field'; name: string }
  | { kind: 'negate' | 'not'; operand: Expression }
  | { kind: 'arithmetic'; op: ArithmeticOperator; left: Expression; right: Expression }
  | { kind: 'comparison'; op: ComparisonOperator; left: Expression; right: Expression }
  | { kind: 'and' | 'or'; left: Expression; right: Expression }
  | { kind: 'call'; name: FunctionName; args: Expression[] };

const MAX_DEPTH = 64;
/** Maximum number of chained operators. DuckDB rejects a deeper tree. */
const MAX_OPERATORS = 100;

const STRENGTH: Record<string, number> = {
  or: 1,
  and: 2,
  '=': 4,
  '!=': 4,
  '<': 4,
  '<=': 4,
  '>': 4,
  '>=': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
};
const NOT_STRENGTH = 3;
const NEGATE_STRENGTH = 7;
const SAME_SYMBOL: Record<string, string> = { '==': '=', '<>': '!=' };
const CONSTANTS = new Map<string, Expression>([
  ['true', { kind: 'literal', value: true }],
  ['false', { kind: 'literal', value: false }],
  ['null', { kind: 'literal', value: null }],
]);
const KEYWORDS = new Set(['and', 'or', 'not', ...CONSTANTS.keys()]);
const FUNCTION_NAMES = new Map(Object.keys(FUNCTIONS).map((name) => [name.toLowerCase(), name as FunctionName]));

/**
 * Parses an expression (docs/contract/datasets.md#flow): field names (in backquotes where unusual), literals, `+ - * /
 * %`, comparisons, `and or not` and functions. Keywords and functions ignore case. Strings are in single or double
 * quotes, which are doubled inside.
 *
 * Throws BAD_USER_INPUT naming what is unknown or misplaced.
 */
export function parseExpression(text: string): Expression {
  const parser = new Parser(tokens(text));
  const parsed = parser.expression(0, 1);
  parser.expectEnd();
  return parsed;
}

class Parser {
  private readonly tokens: Token[];
  private position = 0;
  private operators = 0;

  constructor(found: Token[]) {
    this.tokens = found;
  }

  /** Parses by Pratt's method: consumes operators that bind more strongly than `strength`. */
  expression(strength: number, depth: number): Expression {
    if (depth > MAX_DEPTH) throw badInput(`An expression is nested at most ${MAX_DEPTH} levels`);
    let left = this.operand(depth);
    for (
      let operator = this.operator();
      operator !== undefined && STRENGTH[operator]! > strength;
      operator = this.operator()
    ) {
      this.next();
      if (++this.operators > MAX_OPERATORS) throw badInput(`An expression has at most ${MAX_OPERATORS} operators`);
      left = binary(operator, left, this.expression(STRENGTH[operator]!, depth + 1));
    }
    return left;
  }

  expectEnd(): void {
    if (this.peek().kind !== 'end') throw this.unexpected(this.peek());
  }

  private peek(): Token {
    return this.tokens[this.position]!;
  }

  private next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.position++;
    return token;
  }

  private operator(): string | undefined {
    const token = this.peek();
    if (token.kind !== 'symbol' && token.kind !== 'name') return undefined;
    const operator = token.kind === 'symbol' ? (SAME_SYMBOL[token.value] ?? token.value) : token.value.toLowerCase();
    return Object.hasOwn(STRENGTH, operator) ? operator : undefined;
  }

  private operand(depth: number): Expression {
    const token = this.next();
    switch (token.kind) {
      case 'number':
      case 'string':
        return { kind: 'literal', value: token.value };
      case 'field':
        return { kind: 'field', name: token.value };
      case 'name':
        return this.named(token, depth);
      case 'symbol':
        if (token.value === '-') return { kind: 'negate', operand: this.expression(NEGATE_STRENGTH, depth + 1) };
        if (token.value === '(') return this.closed(this.expression(0, depth + 1));
        throw this.unexpected(token);
      case 'end':
        throw this.unexpected(token);
    }
  }

  private named(token: Token & { value: string }, depth: number): Expression {
    const word = token.value.toLowerCase();
    if (word === 'not') return { kind: 'not', operand: this.expression(NOT_STRENGTH, depth + 1) };
    if (this.isSymbol('(') && !KEYWORDS.has(word)) return this.call(token.value, depth);
    const constant = CONSTANTS.get(word);
    if (constant) return constant;
    if (KEYWORDS.has(word)) throw this.unexpected(token);
    return { kind: 'field', name: token.value };
  }

  private call(written: string, depth: number): Expression {
    const name = FUNCTION_NAMES.get(written.toLowerCase());
    if (!name)
      throw badInput(`Unknown function ${written.slice(0, 100)}; known are ${[...FUNCTION_NAMES.values()].join(', ')}`);
    this.next();
    const args: Expression[] = [];
    while (!this.isSymbol(')')) {
      if (args.length > 0 && !this.isSymbol(',')) throw this.unexpected(this.peek());
      if (args.length > 0) this.next();
      args.push(this.expression(0, depth + 1));
    }
    this.next();
    const { least, most } = FUNCTIONS[name];
    if (args.length < least || args.length > most) {
      const expected = least === most ? least : most === Infinity ? `at least ${least}` : `${least} to ${most}`;
      throw badInput(`${name} takes ${expected} arguments, not ${args.length}`);
    }
    return { kind: 'call', name, args };
  }

  private closed(inner: Expression): Expression {
    if (!this.isSymbol(')')) throw this.unexpected(this.peek());
    this.next();
    return inner;
  }

  private isSymbol(value: string): boolean {
    const token = this.peek();
    return token.kind === 'symbol' && token.value === value;
  }

  private unexpected(token: Token) {
    return badInput(
      token.kind === 'end'
        ? 'The expression ends too early'
        : `The expression has an unexpected ${JSON.stringify(String(token.value).slice(0, 100))} at character ${token.at + 1}`,
    );
  }
}

function binary(operator: string, left: Expression, right: Expression): Expression {
  switch (operator) {
    case 'and':
    case 'or':
      return { kind: operator, left, right };
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return { kind: 'arithmetic', op: operator, left, right };
    default:
      return { kind: 'comparison', op: operator as ComparisonOperator, left, right };
  }
}
