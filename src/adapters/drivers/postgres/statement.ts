import pg from 'pg';
import { badInput } from '../../../core/errors.ts';
import type { Column } from '../../../core/fields.ts';
import { parseTemplate } from '../../../core/parameters.ts';
import type { BoundQuery } from '../../../core/row-source.ts';
import { countList } from '../count-list.ts';
import { describeColumns } from './columns.ts';
import { compilePlaceholders, type CompiledText } from './placeholders.ts';
import type { Session } from './session.ts';
import { withLine } from './statement-error.ts';

/** A user's query, verified as one complete SELECT and ready to run. */
export interface PreparedStatement {
  columns: Column[];
  /**
   * A select around the user's, whose values are text in the dialect of segments. It is safe inside further
   * parentheses.
   */
  select: string;
  /** A select that counts its rows, as `records`. */
  count: string;
  settings: CompiledText['settings'];
}

/** Errors of a statement that is not a SELECT in place of a subquery: a syntax error, or a WITH that changes data. */
const NO_SUBQUERY = new Set(['42601', '0A000']);
const ONLY_SELECT = 'Only one SELECT (or VALUES, TABLE, WITH … SELECT) can be run';

/**
 * Verifies and prepares a query without running any of it. The result is safe inside parentheses because the same text
 * has been parsed alone as one statement, so it closes every literal, comment and parenthesis; the newlines end a line
 * comment; and as a subquery it can only read.
 */
export async function prepare(session: Session, query: BoundQuery): Promise<PreparedStatement> {
  if (query.text.includes('\0')) throw badInput('A query cannot contain the character U+0000');
  // The template has no trailing `;`.
  const { text, settings } = await compilePlaceholders(session, parseTemplate(query.text), query.parameters);
  const parsed = await session.parse(text).catch((error: unknown) => {
    throw withLine(error, text);
  });
  if (parsed.parameterTypes.length > 0)
    throw badInput('Positional parameters such as $1 are not known here; write {{name}}');
  if (parsed.fields === null) throw badInput(ONLY_SELECT);
  if (parsed.fields.length === 0) throw badInput('The query returns no columns');

  const written = await describeColumns(session, parsed.fields);
  const names = written.map((_, i) => `c${i}`);
  const from = `(\n${text}\n) as q(${names.join(', ')})`;
  const select = `select ${written.map(({ write }, i) => write(names[i]!)).join(', ')} from ${from}`;
  await session.parse(select).catch((error: unknown) => {
    const isShape = error instanceof pg.DatabaseError && NO_SUBQUERY.has(error.code ?? '');
    throw isShape ? badInput(`${ONLY_SELECT}: ${error.message}`) : error;
  });
  return {
    columns: written.map(({ column }) => column),
    select,
    count: `select ${countList(names, 'pg_catalog.count')} from ${from}`,
    settings,
  };
}

/** Begins the read-only transaction in which the prepared statement runs and binds its values. */
export async function begin(session: Session, { settings }: PreparedStatement): Promise<void> {
  await session.query('begin transaction read only');
  if (settings.length === 0) return;
  const calls = settings.map(({ name }, i) => `pg_catalog.set_config('${name}', $${i + 1}, true)`);
  await session.query(
    `select ${calls.join(', ')}`,
    settings.map(({ value }) => value),
  );
}

/**
 * Returns the planner's estimate of the rows, in the transaction of `begin`. Null for servers that only implement
 * Postgres' protocol; their transaction is begun again.
 */
export async function estimate(session: Session, statement: PreparedStatement): Promise<number | null> {
  try {
    const [row] = await session.query<{ 'QUERY PLAN': string }>(`explain (format json) ${statement.select}`);
    const [{ Plan: plan }] = JSON.parse(row!['QUERY PLAN']) as [{ Plan: { 'Plan Rows': number } }];
    return plan['Plan Rows'];
  } catch (error) {
    session.signal.throwIfAborted();
    if (!(error instanceof pg.DatabaseError)) throw error;
    await session.query('rollback');
    await begin(session, statement);
    return null;
  }
}
