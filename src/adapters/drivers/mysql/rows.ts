import type { SegmentWriter } from '../segment-files.ts';
import { CsvBytes } from './csv-bytes.ts';
import { RowEncoder } from './row-encoder.ts';
import type { Session } from './session.ts';
import { isServerError } from './statement-error.ts';
import type { PreparedStatement } from './statement.ts';

/** Bytes of records after which they are written, and after which the socket is paused until they are written. */
const WRITE_BYTES = 1024 * 1024;
const PAUSE_BYTES = 2 * WRITE_BYTES;

/** Maximum number of characters of a result for users. The rest is omitted, as if it were past the limit. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Runs a prepared statement and writes its rows into segments, no faster than the segments are read. */
export async function copyRows(
  session: Session,
  { parsed, values }: PreparedStatement,
  writer: SegmentWriter,
): Promise<void> {
  const out = new CsvBytes();
  let waiting = 0;
  let writing: Promise<void> | undefined;
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure = error;
    session.fail(error);
  };
  const write = async () => {
    // Rows that arrive during a round are written in the next one.
    while (waiting >= WRITE_BYTES) {
      waiting = 0;
      await writer.flush();
      session.resume();
    }
    writing = undefined;
  };
  try {
    await session.run(parsed, values, (fields) => {
      const encoder = new RowEncoder(fields, out);
      return (packet) => {
        const bytes = encoder.record(packet);
        writer.append(out.bytes, 0, bytes);
        writer.endRecord(bytes);
        waiting += bytes;
        if (waiting >= PAUSE_BYTES) session.pause();
        if (waiting >= WRITE_BYTES) writing ??= write().catch(fail);
      };
    });
  } finally {
    // No write may be pending when a failure is cleaned up.
    await writing;
  }
  if (failure) throw failure;
  await writer.finish();
}

/** Runs a prepared statement for at most `limit` rows and returns whether there are more. */
export async function selectRows(
  session: Session,
  { parsed, values }: PreparedStatement,
  limit: number,
): Promise<{ rows: (string | null)[][]; truncated: boolean }> {
  const rows: (string | null)[][] = [];
  let characters = 0;
  let truncated = false;
  const { promise: enough, resolve: stop } = Promise.withResolvers<void>();
  // One additional row shows whether there are more. A limit in the query itself has precedence.
  await session.query(`set sql_select_limit = ${limit + 1}`);
  const ended = session.run(parsed, values, (fields) => {
    const encoder = new RowEncoder(fields, new CsvBytes(true));
    return (packet) => {
      if (truncated) return;
      const texts = encoder.texts(packet);
      characters += texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
      truncated = rows.length === limit || characters > MAX_CHARACTERS;
      if (truncated) stop();
      else rows.push(texts);
    };
  });
  // Reading the rest would cost time of the source and of this process: the session ends the statement with itself.
  await Promise.race([ended, enough]);
  return { rows, truncated };
}

/** Counts the rows of a prepared statement in the server. */
export async function countRows(session: Session, { count, values }: PreparedStatement): Promise<number> {
  let counted = 0;
  await session.run(await session.parse(count), values, (fields) => {
    const encoder = new RowEncoder(fields, new CsvBytes(true));
    return (packet) => {
      counted = Number(encoder.texts(packet)[0]);
    };
  });
  return counted;
}

/**
 * Returns the planner's estimate of the rows of a prepared statement: the product of its joined tables. Null for a
 * union, and where the server has no plan.
 */
export async function estimateRows(session: Session, { explain, values }: PreparedStatement): Promise<number | null> {
  const tables: Record<string, string | null>[] = [];
  try {
    await session.run(await session.parse(explain), values, (fields) => {
      const encoder = new RowEncoder(fields, new CsvBytes(true));
      return (packet) => {
        const texts = encoder.texts(packet);
        tables.push(Object.fromEntries(fields.map(({ name }, i) => [name, texts[i] ?? null])));
      };
    });
  } catch (error) {
    if (isServerError(error)) return null;
    throw error;
  }
  if (tables.some(({ select_type: type }) => type === 'UNION')) return null;
  const outer = tables.filter(({ id }) => id === '1');
  if (outer.length === 0 || outer.some(({ rows }) => !rows)) return null;
  return Math.round(
    outer.reduce((product, { rows, filtered }) => product * Number(rows) * (Number(filtered ?? 100) / 100), 1),
  );
}
