import { badInput } from './errors.ts';

/** How a source reads its SQL. MySQL and MariaDB know backslashes in strings and `#` comments, and neither dollar quotes nor nested comments. */
export type SqlDialect = 'standard' | 'mysql';

/** A piece of a query: a text as it is, or a placeholder. */
export type TemplatePiece = string | { name: string };

type Token =
  | { kind: 'code' | 'space' | 'end' | 'hidden'; end: number }
  | { kind: 'placeholder'; end: number; name: string };

const MAX_LENGTH = 200_000;
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

/** What hides its content from placeholders: how it begins and what follows. No character can be read in two ways, so nothing runs back over the text. */
const HIDING: Record<SqlDialect, [what: string, start: RegExp, rest: RegExp][]> = {
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
 * Takes a query apart at its `{{name}}` placeholders. A trailing `;` is taken off. Joining the texts with a driver's own notation for each value gives the statement.
 * @throws badInput when a placeholder stands in a string, a quoted name or a comment (where it could not be bound), when `{{` begins no placeholder, when something
 * is left open, or when a second statement follows.
 */
export function parseTemplate(sql: string, dialect: SqlDialect = 'standard'): TemplatePiece[] {
  if (sql.length > MAX_LENGTH) throw badInput(`The query is longer than ${MAX_LENGTH} characters`);
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
  const hidden = hiddenToken(sql, at, dialect);
  if (hidden) {
    const inside = PLACEHOLDER_ANYWHERE.exec(sql.slice(at, hidden.end));
    if (inside)
      throw badInput(
        `The placeholder ${inside[0]} stands in ${hidden.what}; a placeholder is a value of its own and takes no quotes`,
      );
    return { kind: hidden.what === 'a comment' ? 'space' : 'hidden', end: hidden.end };
  }
  if (sql[at] === ';') return { kind: 'end', end: at + 1 };
  const placeholder = stickyMatch(PLACEHOLDER, sql, at);
  if (placeholder) return { kind: 'placeholder', end: at + placeholder[0].length, name: placeholder[1]! };
  if (sql.startsWith('{{', at))
    throw badInput(`The query has a {{ that begins no placeholder: ${JSON.stringify(sql.slice(at, at + 40))}`);
  const space = stickyMatch(SPACE, sql, at);
  if (space) return { kind: 'space', end: at + space[0].length };
  return { kind: 'code', end: at + (stickyMatch(WORD, sql, at)?.[0].length ?? 1) };
}

function hiddenToken(sql: string, at: number, dialect: SqlDialect): { what: string; end: number } | undefined {
  if (sql.startsWith('/*', at)) return { what: 'a comment', end: endOfComment(sql, at, dialect) };
  for (const [what, start, rest] of HIDING[dialect]) {
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
