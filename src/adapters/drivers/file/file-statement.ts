import { DuckDBTypeId, StatementType } from '@duckdb/node-api';
import { badInput } from '../../../core/errors.ts';
import { MAX_DECIMAL_DIGITS } from '../../../core/exact-number.ts';
import { distinctNames, type Column } from '../../../core/fields.ts';
import { parseTemplate, tooManyDigits } from '../../../core/parameters.ts';
import type { BoundQuery } from '../../../core/row-source.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';
import type { DuckdbSession } from './duckdb-session.ts';
import { guardSelect } from './select-guard.ts';
import { writtenColumn, type WrittenColumn } from './value-writer.ts';

/** A user's query, verified as one SELECT on the file and ready to run. */
export interface PreparedSelect {
  columns: Column[];
  written: WrittenColumn[];
  /** The query as a subquery with the columns `names`. */
  from: string;
  names: string[];
  /** Values as texts; the statement casts them. */
  values: Record<string, string | null>;
}

/** Verifies and prepares a query without running any of it. */
export async function prepareSelect(session: DuckdbSession, query: BoundQuery): Promise<PreparedSelect> {
  if (query.text.includes('\0')) throw badInput('A query cannot contain the character U+0000');
  const { pieces, parameters } = compile(query);
  const bare = render(pieces, (i) => `$p${i}`);
  await guardSelect(session, bare);
  const types = await placeTypes(session, bare, parameters);
  const text = render(pieces, (i) => cast(i, typeOf(parameters[i]!, types[i])));
  const prepared = await session.prepare(text);
  if (prepared.statementType !== StatementType.SELECT) throw badInput('Only a SELECT can be run');
  if (prepared.parameterCount !== parameters.length)
    throw badInput('Parameters such as $1 and ? are not known here; write {{name}}');
  const count = prepared.columnCount;
  if (count > MAX_COLUMNS) throw badInput(`The query returns ${count} columns; at most ${MAX_COLUMNS} are possible`);
  const written = Array.from({ length: count }, (_, i) => writtenColumn(prepared.columnType(i)));
  const fields = distinctNames(written.map((_, i) => prepared.columnName(i)));
  const names = written.map((_, i) => `c${i}`);
  return {
    columns: written.map(({ column }, i) => ({ name: fields[i]!, ...column })),
    written,
    names,
    from: `(\n${text}\n) as q(${names.join(', ')})`,
    values: Object.fromEntries(parameters.map(({ value }, i) => [`p${i}`, value === null ? null : String(value)])),
  };
}

type Pieces = (string | null)[];
const render = (pieces: Pieces, write: (occurrence: number) => string): string => {
  let occurrence = 0;
  return pieces.map((piece) => piece ?? `(${write(occurrence++)})`).join('');
};

/** Splits the text at its placeholders (null), and returns the parameter of each. */
function compile({ text, parameters }: BoundQuery): { pieces: Pieces; parameters: BoundQuery['parameters'] } {
  const used: BoundQuery['parameters'] = [];
  const pieces = parseTemplate(text).map((piece) => {
    if (typeof piece === 'string') return piece;
    const parameter = parameters.find(({ name }) => name === piece.name);
    if (!parameter) throw badInput(`The placeholder {{${piece.name}}} has no definition`);
    used.push(parameter);
    return null;
  });
  return { pieces, parameters: used };
}

/** Returns the type that DuckDB expects at each placeholder; undefined where it expects none. */
async function placeTypes(
  session: DuckdbSession,
  text: string,
  parameters: BoundQuery['parameters'],
): Promise<(string | undefined)[]> {
  if (parameters.length === 0) return [];
  // A query that fails without types may succeed with the types of the definitions; otherwise the first failure is
  // reported.
  const prepared = await session.prepare(text).catch(() => undefined);
  return parameters.map((_, i) => {
    const index = prepared?.parameterIndex(`p${i}`) ?? 0;
    return prepared && SCALARS.has(prepared.parameterTypeId(index))
      ? prepared.parameterType(index).toString()
      : undefined;
  });
}

const SCALARS = new Set<DuckDBTypeId>([
  DuckDBTypeId.VARCHAR,
  DuckDBTypeId.BOOLEAN,
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DECIMAL,
  DuckDBTypeId.DATE,
  DuckDBTypeId.TIME,
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_TZ,
  DuckDBTypeId.TIMESTAMP_S,
  DuckDBTypeId.TIMESTAMP_MS,
  DuckDBTypeId.TIMESTAMP_NS,
  DuckDBTypeId.UUID,
  DuckDBTypeId.INTERVAL,
]);

/**
 * A text gets the type expected at its placeholder. Any other value gets its own type, unless a text is expected, so
 * that `id > 1.5` compares with 1.5 and not with 2.
 */
function typeOf(parameter: Parameter, expected: string | undefined): string {
  if (parameter.dataType === 'string') return expected ?? 'VARCHAR';
  return expected === 'VARCHAR' ? expected : OWN_TYPE[parameter.dataType](parameter);
}

type Parameter = BoundQuery['parameters'][number];

const OWN_TYPE: Record<'number' | 'boolean' | 'date', (parameter: Parameter) => string> = {
  number: ({ name, value }) =>
    typeof value === 'string' ? longNumber(name, value) : Number.isSafeInteger(value) ? 'BIGINT' : 'DOUBLE',
  boolean: () => 'BOOLEAN',
  date: ({ value }) => (typeof value === 'string' && value.length > 10 ? 'TIMESTAMP' : 'DATE'),
};

/** Returns the type of a number with more digits than a double has. Throws BAD_USER_INPUT without such a type. */
function longNumber(name: string, digits: string): string {
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.');
  if (whole.length + fraction.length > MAX_DECIMAL_DIGITS)
    throw tooManyDigits(name, `a decimal has at most ${MAX_DECIMAL_DIGITS} digits`);
  return fraction ? `DECIMAL(${whole.length + fraction.length}, ${fraction.length})` : 'HUGEINT';
}

const cast = (occurrence: number, type: string): string => `cast(cast($p${occurrence} as VARCHAR) as ${type})`;
