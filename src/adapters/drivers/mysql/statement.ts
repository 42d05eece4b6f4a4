import { badInput } from '../../../core/errors.ts';
import type { Column } from '../../../core/fields.ts';
import { parseTemplate } from '../../../core/parameters.ts';
import type { BoundQuery } from '../../../core/row-source.ts';
import { countList } from '../count-list.ts';
import { describeColumns } from './columns.ts';
import { compilePlaceholders } from './placeholders.ts';
import type { BoundValue, ParsedStatement, Session } from './session.ts';
import { isServerError } from './statement-error.ts';

/** A user's query, verified as one complete SELECT and ready to run. */
export interface PreparedStatement {
  columns: Column[];
  parsed: ParsedStatement;
  values: BoundValue[];
  /** A statement with the same values that counts its rows. */
  count: string;
  /** A statement with the same values that returns the plan of the query. */
  explain: string;
}

/**
 * Errors of a statement that is not a SELECT in place of a subquery: a syntax error, or a clause that a subquery
 * cannot have.
 */
const NO_SUBQUERY = new Set([1064, 1221, 1234]);
const ONLY_SELECT = 'Only one SELECT (or VALUES, TABLE, WITH … SELECT) can be run';

/**
 * Verifies and prepares a query without running any of it. The text is parsed twice: alone, as one statement, so that
 * it closes every literal, comment and parenthesis; and in parentheses as a common table expression, where only a
 * query expression is valid: nothing that writes, sets or shows, and no INTO, which would write files of the server.
 * The first one is run, because a server ignores the order of a subquery's rows.
 */
export async function prepare(session: Session, query: BoundQuery): Promise<PreparedStatement> {
  if (query.text.includes('\0')) throw badInput('A query cannot contain the character U+0000');
  // The template has no trailing `;`.
  const { text, values } = compilePlaceholders(parseTemplate(query.text, 'mysql'), query.parameters);
  const parsed = await session.parse(text);
  if (parsed.parameters !== values.length)
    throw badInput('Positional parameters such as ? are not known here; write {{name}}');
  if (parsed.fields.length === 0) throw badInput(ONLY_SELECT);

  const names = parsed.fields.map((_, i) => `c${i}`);
  const table = `with dws_query (${names.join(', ')}) as (\n${text}\n)`;
  await session.parse(`${table} select * from dws_query`).catch((error: unknown) => {
    throw isServerError(error) && NO_SUBQUERY.has(error.errno) ? badInput(`${ONLY_SELECT}: ${error.message}`) : error;
  });
  return {
    columns: describeColumns(parsed.fields),
    parsed,
    values,
    count: `${table} select ${countList(names)} from dws_query`,
    explain: `explain ${table} select * from dws_query`,
  };
}

/** Begins the read-only transaction in which the prepared statement runs. */
export async function begin(session: Session): Promise<void> {
  await session.query('start transaction read only');
}
