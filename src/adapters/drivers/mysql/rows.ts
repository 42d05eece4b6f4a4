import type { SegmentWriter } from '../segment-files.ts';
import { CsvBytes } from './csv-bytes.ts';
import { RowEncoder } from './row-encoder.ts';
import type { Session } from './session.ts';
import type { PreparedStatement } from './statement.ts';

/** Bytes of records after which they are written out, and after which the socket is paused until they are. */
const WRITE_BYTES = 1024 * 1024;
const PAUSE_BYTES = 2 * WRITE_BYTES;

/** Characters of an answer for people. What is past them is left out, as if it were past the limit. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Runs a prepared statement and writes its rows into segments, no faster than these are read. */
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
    // Rows go on arriving meanwhile, and are written in the next round.
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
    // Whoever tidies up after a failure must find nobody writing.
    await writing;
  }
  if (failure) throw failure;
  await writer.finish();
}

/** Runs a prepared statement for at most `limit` rows and says whether there were more. */
export async function selectRows(
  session: Session,
  { parsed, values }: PreparedStatement,
  limit: number,
): Promise<{ rows: (string | null)[][]; truncated: boolean }> {
  const rows: (string | null)[][] = [];
  let characters = 0;
  let truncated = false;
  const { promise: enough, resolve: stop } = Promise.withResolvers<void>();
  // One row more than wanted tells whether there are more. A query with a limit of its own goes by that.
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
  // Reading on only to drop it would cost the source's time and ours: the session ends the statement with itself.
  await Promise.race([ended, enough]);
  return { rows, truncated };
}

/** Has the server count the rows of a prepared statement. */
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
