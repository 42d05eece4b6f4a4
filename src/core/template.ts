import { badInput } from './errors.ts';

/**
 * Lexical rules of a source's SQL. MySQL and MariaDB have backslash escapes in strings and `#` comments, but no dollar
 * quotes and no nested comments.
 */
export type SqlDialect = 'standard' | 'mysql';

/** A piece of a query: literal text, or a placeholder. */
export type TemplatePiece = string | { name: string };

type Token =
  | { kind: 'code' | 'space' | 'end' | 'opaque'; end: number }
  | { kind: 'placeholder'; end: number; name: string };

const MAX_QUERY_CHARACTERS = 200_000;
const NAME = '[A-Za-z_][A-Za-z0-9_-]{0,62}';
const PLACEHOLDER = new RegExp(String.raw`\{\{\s*(${NAME})\s*\}\}`, 'y');
const PLACEHOLDER_ANYWHERE = new RegExp(String.raw`\{\{\s*${NAME}\s*\}\}`);
const WORD = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const SPACE = /\s+/y;
const DOLLAR_TAG = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;

const ESCAPED_STRING = /(?:[^'\\]|''|\\[^])*'/y;
const QUOTED_NAME = /(?:[^"]|"")*"/y;
const BACKQUOTED_NAME = /(?:[^`]|``)*`/y;
const LINE = /[^\n]*/y;

/**
 * Tokens that must not contain placeholders, by their start and their rest. The expressions are unambiguous, so
 * matching never backtracks.
 */
const OPAQUE_TOKENS: Record<SqlDialect, [what: string, start: RegExp, rest: RegExp][]> = {
  standard: [
    ['a string', /[eE]'/y, ESCAPED_STRING],
    ['a string', /'/y, /(?:[^']|'')*'/y],
    ['a quoted name', /"/y, QUOTED_NAME],
    ['a quoted name', /`/y, BACKQUOTED_NAME],
    ['a comment', /--/y, LINE],
  ],
  mysql: [
    ['a string', /'/y, ESCAPED_STRING],
    ['a string', /"/y, /(?:[^"\\]|""|\\[^])*"/y],
    ['a quoted name', /`/y, BACKQUOTED_NAME],
    ['a comment', /#|--(?=\s|$)/y, LINE],
  ],
};

/**
 * Splits a query at its `{{name}}` placeholders and removes a trailing `;`. A driver joins the texts with its own
 * placeholder notation. Throws `badInput` for a placeholder inside a string, quoted name or comment (where it cannot be
 * bound), and for any other `{{` outside of them. Also throws it for an unclosed string, name or comment, and for a
 * second statement.
 */
export function parseTemplate(sql: string, dialect: SqlDialect = 'standard'): TemplatePiece[] {
  if (sql.length > MAX_QUERY_CHARACTERS) {
    throw badInput(`The query is longer than ${MAX_QUERY_CHARACTERS} characters`);
  }
  const pieces: TemplatePiece[] = [];
  let text = '';
  let ended = false;
  for (let at = 0, token: Token; at < sql.length; at = token.end) {
    token = nextToken(sql, at, dialect);
    if (token.kind === 'end') ended = true;
    else if (ended && token.kind !== 'space') throw badInput('The query has more than one statement');
    if (token.kind === 'placeholder') {
      pieces.push(text, { name: token.name });
      text = '';
    } else if (token.kind !== 'end') text += sql.slice(at, token.end);
  }
  pieces.push(text);
  return pieces.filter((piece) => piece !== '');
}

function nextToken(sql: string, at: number, dialect: SqlDialect): Token {
  const opaque = opaqueToken(sql, at, dialect);
  if (opaque) {
    const inside = PLACEHOLDER_ANYWHERE.exec(sql.slice(at, opaque.end));
    if (inside)
      throw badInput(
        `The placeholder ${inside[0]} is inside ${opaque.what}. A placeholder is a whole value and requires no quotes`,
      );
    return { kind: opaque.what === 'a comment' ? 'space' : 'opaque', end: opaque.end };
  }
  if (sql[at] === ';') return { kind: 'end', end: at + 1 };
  const placeholder = stickyMatch(PLACEHOLDER, sql, at);
  if (placeholder) return { kind: 'placeholder', end: at + placeholder[0].length, name: placeholder[1]! };
  if (sql.startsWith('{{', at))
    throw badInput(`The query has a {{ that does not begin a placeholder: ${JSON.stringify(sql.slice(at, at + 40))}`);
  const space = stickyMatch(SPACE, sql, at);
  if (space) return { kind: 'space', end: at + space[0].length };
  return { kind: 'code', end: at + (stickyMatch(WORD, sql, at)?.[0].length ?? 1) };
}

function opaqueToken(sql: string, at: number, dialect: SqlDialect): { what: string; end: number } | undefined {
  if (sql.startsWith('/*', at)) return { what: 'a comment', end: endOfComment(sql, at, dialect) };
  for (const [what, start, rest] of OPAQUE_TOKENS[dialect]) {
    const opening = stickyMatch(start, sql, at);
    if (!opening) continue;
    const body = stickyMatch(rest, sql, at + opening[0].length);
    if (!body) throw unclosed(what);
    return { what, end: at + opening[0].length + body[0].length };
  }
  const tag = dialect === 'standard' ? stickyMatch(DOLLAR_TAG, sql, at)?.[0] : undefined;
  if (!tag) return undefined;
  const end = sql.indexOf(tag, at + tag.length);
  if (end < 0) throw unclosed('a string');
  return { what: 'a string', end: end + tag.length };
}

function endOfComment(sql: string, start: number, dialect: SqlDialect): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start + 2;
  for (let depth = 1, found = mark.exec(sql); found; found = mark.exec(sql)) {
    if (found[0] === '*/') depth--;
    else if (dialect === 'standard') depth++;
    if (depth === 0) return mark.lastIndex;
  }
  throw unclosed('a comment');
}

const unclosed = (what: string) => badInput(`The query ends within ${what}`);

function stickyMatch(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}
