import pg from 'pg';
import { asText, type Session } from './session.ts';

/** Maximum number of characters of a result for users. The rest is omitted, as if it were past the limit. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Runs a prepared select for at most `limit` rows and returns whether there are more. */
export async function selectRows(
  session: Session,
  select: string,
  limit: number,
): Promise<{ rows: (string | null)[][]; truncated: boolean }> {
  const rows: (string | null)[][] = [];
  let characters = 0;
  let truncated = false;
  let full: () => void;
  const enough = new Promise<void>((resolve) => {
    full = resolve;
  });
  // One additional row shows whether there are more.
  const config: pg.QueryArrayConfig & pg.QueryConfig = {
    text: `${select} limit ${limit + 1}`,
    rowMode: 'array',
    types: asText,
  };
  const query = session.submit(new pg.Query(config));
  query.on('row', (row: unknown) => {
    const values = row as (string | null)[];
    characters += values.reduce((sum, value) => sum + (value?.length ?? 0), 0);
    if (truncated || rows.length === limit || characters > MAX_CHARACTERS) truncated = true;
    else rows.push(values);
    if (characters > MAX_CHARACTERS) full();
  });
  const ended = new Promise<void>((resolve, reject) => {
    query.on('end', () => resolve());
    query.on('error', reject);
  });
  // Reading the rest would cost time of the source and of this process: the session ends the statement with itself.
  await Promise.race([ended, enough]);
  return { rows, truncated };
}
