import { locate } from './mistakes.ts';
import type { Nunjucks, Token } from './nunjucks-library.ts';

interface Position {
  lineno: number;
  colno: number;
}
type ParserMethod = (this: { peekToken(): Token | null }, ...args: never[]) => unknown;

/** Errors that the parser reports for the token that it has read last. */
const AT_LAST_TOKEN = /^expected block end in/;
const NAMES: readonly [RegExp, string][] = [
  [/^unknown block tag: /, 'unknown tag: '],
  [/^parse\w+: /, ''],
  [/^advanceAfterBlockEnd: .*/, 'expected a name'],
];

/** The position of the parser: for errors that do not state their place. */
let lastToken: Position | undefined;
let lastStart: (Position & { type: string }) | undefined;
let lexedFrom: Position | undefined;
const openTags: Position[] = [];

/**
 * Changes the parser so that each syntax error has a place. An error at the end of a file has the place of the unclosed
 * tag.
 */
export function locateSyntaxErrors({ compiler, parser, lexer }: Nunjucks): void {
  const tokens = Object.getPrototypeOf(lexer.lex('')) as { nextToken(this: Position): Token | null };
  const { nextToken } = tokens;
  tokens.nextToken = function locatedToken() {
    lexedFrom = { lineno: this.lineno, colno: this.colno };
    const token = nextToken.call(this);
    lexedFrom = undefined;
    if (token?.type === 'block-start' || token?.type === 'variable-start') lastStart = token;
    return token;
  };
  const { prototype } = parser.Parser;
  const readToken = prototype.nextToken as ParserMethod;
  prototype.nextToken = function rememberToken(...args: never[]) {
    const token = readToken.apply(this as never, args) as Token | null;
    if (token) lastToken = token;
    return token;
  };
  const createError = prototype.error as ParserMethod;
  prototype.error = function keepLastToken(...args: never[]) {
    // It reads the next token.
    const before = lastToken;
    const error = createError.apply(this as never, args);
    lastToken = before;
    return error;
  };
  const parseStatement = prototype.parseStatement as ParserMethod;
  prototype.parseStatement = function rememberTag(...args: never[]) {
    openTags.push(lastStart ?? { lineno: 0, colno: 0 });
    const node = parseStatement.apply(this as never, args);
    openTags.pop();
    return node;
  };
  const { compile } = compiler;
  compiler.compile = (source, asyncFilters, extensions, name, options) => {
    lastToken = lastStart = lexedFrom = undefined;
    openTags.length = 0;
    try {
      return compile(source, asyncFilters, extensions, name, options);
    } catch (error) {
      throw locateIn(name, error as Error & Partial<Position>);
    }
  };
}

function locateIn(path: string, error: Error & Partial<Position>): Error {
  const { lineno, colno } = placeOf(error);
  // An error within the compiler, which expects other nodes.
  if (error instanceof TypeError) error.message = 'The tag cannot be compiled';
  for (const [pattern, text] of NAMES) error.message = error.message.replace(pattern, text);
  return locate(error, { path, line: lineno, column: colno });
}

/** Returns the place of a syntax error, from 1. */
function placeOf(error: Error & Partial<Position>): { lineno: number | null; colno: number | null } {
  const next = ({ lineno, colno }: Position) => ({ lineno: lineno + 1, colno: colno + 1 });
  if (lexedFrom) return next(lexedFrom);
  if (lastToken && AT_LAST_TOKEN.test(error.message)) return next(lastToken);
  if (error.lineno !== undefined) return { lineno: error.lineno, colno: error.colno ?? null };
  if (lastStart && (lastStart.type === 'variable-start' || error instanceof TypeError)) return next(lastStart);
  const open = openTags.at(-1);
  return open ? next(open) : { lineno: null, colno: null };
}
