import pg from 'pg';
import { asText, type Session } from './session.ts';

/** Characters of an answer for people. What is past them is left out, as if it were past the limit. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Runs a prepared select for at most `limit` rows and says whether there were more. */
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
  // One row more than wanted tells whether there are more.
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
  // Reading on only to drop it would cost the source's time and ours: the session ends the statement with itself.
  await Promise.race([ended, enough]);
  return { rows, truncated };
}
