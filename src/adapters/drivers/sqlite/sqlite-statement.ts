import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { badInput } from '../../../core/errors.ts';
import { parseTemplate, tooManyDigits } from '../../../core/parameters.ts';
import type { BoundQuery } from '../../../core/row-source.ts';
import { countList } from '../count-list.ts';
import { sqliteError } from './sqlite-error.ts';

/** A user's query, verified as one SELECT, with its values. */
export interface PreparedQuery {
  names: string[];
  /** Declared types of the columns in their tables; null for expressions. */
  declared: (string | null)[];
  rows(): Iterable<SQLOutputValue[]>;
  /** Counts the rows without reading them. */
  count(): number;
}

/** Skips strings, quoted names and comments, also unclosed ones; any other of these characters is a parameter of SQLite. */
const PARAMETER_SIGN = /'[^']*'?|"[^"]*"?|`[^`]*`?|\[[^\]]*|--[^\n]*|\/\*[^]*?(?:\*\/|$)|([?:@$]\w*)/g;

/**
 * Verifies and prepares a query. The whole text must also be valid as a subquery of another statement: so it
 * is a single SELECT with balanced brackets, quotes and comments. Its contents are checked by the authorizer.
 */
export function prepareQuery(database: DatabaseSync, query: BoundQuery): PreparedQuery {
  if (query.text.includes('\0')) throw badInput('A query cannot contain the character U+0000');
  const { text, values } = compile(query);
  const statement = attempt(() => {
    const alone = database.prepare(text);
    database.prepare(`select * from (\n${text}\n)`);
    return alone;
  });
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const columns = statement.columns();
  const names = columns.map((_, i) => `c${i}`);
  const counting = `with dws_query (${names.join(', ')}) as (\n${text}\n) select ${countList(names)} from dws_query`;
  return {
    names: columns.map(({ name }) => name),
    declared: columns.map(({ type }) => type),
    rows: () => rowsOf(statement, values),
    count: () => Number(attempt(() => database.prepare(counting).get(values))!['records']),
  };
}

/** Returns the text with a named parameter for each placeholder, and their values. */
function compile({ text, parameters }: BoundQuery): { text: string; values: Record<string, SQLInputValue> } {
  const values: Record<string, SQLInputValue> = {};
  const pieces = parseTemplate(text).map((piece) => {
    if (typeof piece === 'string') return piece;
    const index = parameters.findIndex(({ name }) => name === piece.name);
    if (index < 0) throw badInput(`The placeholder {{${piece.name}}} has no definition`);
    values[`p${index}`] = toSqlite(parameters[index]!);
    return { parameter: `$p${index}` };
  });
  const own = pieces.map((piece) => (typeof piece === 'string' ? piece : ' ')).join('');
  for (const [, sign] of own.matchAll(PARAMETER_SIGN))
    if (sign) throw badInput(`Parameters such as ${sign} are not known here; write {{name}}`);
  return { text: pieces.map((piece) => (typeof piece === 'string' ? piece : piece.parameter)).join(''), values };
}

/**
 * Converts a value: a boolean to 1 or 0, as SQLite stores it; an integer to an integer; a date to its ISO text. Throws
 * BAD_USER_INPUT for a number that would be rounded.
 */
function toSqlite({ name, dataType, value }: BoundQuery['parameters'][number]): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (dataType === 'number' && typeof value === 'string') {
    if (value.includes('.') || BigInt.asIntN(64, BigInt(value)) !== BigInt(value))
      throw tooManyDigits(name, 'an integer of SQLite has 64 bits, and other numbers about 15 digits');
    return BigInt(value);
  }
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

function* rowsOf(statement: StatementSync, values: Record<string, SQLInputValue>): Generator<SQLOutputValue[]> {
  const rows = attempt(() => statement.iterate(values)) as unknown as Iterator<SQLOutputValue[]>;
  for (;;) {
    const { done, value } = attempt(() => rows.next());
    if (done) return;
    yield value;
  }
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteError(error);
  }
}
