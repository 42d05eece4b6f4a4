import { badInput, diskFull } from '../../../core/errors.ts';
import { ENGINE_MEMORY, MAX_RECORD_BYTES } from '../query-process/limits.ts';

/** Messages for SQLite's result codes whose own messages are unclear. */
const WORDS: Readonly<Record<number, string>> = {
  7: `The query needs more memory than the ${ENGINE_MEMORY / 1024 ** 2} MiB that it may use`,
  11: 'The SQLite file is broken',
  18: `A value or a row is longer than ${MAX_RECORD_BYTES / 1024 ** 2} MiB`,
  23: 'Only one SELECT (or VALUES, WITH … SELECT) can be run, and it may only read',
  26: 'The file is not an SQLite database, or it is encrypted',
};

/** `SQLITE_FULL`: the disk of temporary data is full. The database itself is only read. */
const FULL = 13;

/** Turns an error of SQLite into BAD_USER_INPUT, or UNAVAILABLE for a full disk. Returns any other error unchanged. */
export function sqliteError(error: unknown): unknown {
  if (error instanceof TypeError && error.message.includes('no statements'))
    return badInput('The query is empty', { cause: error });
  if (!(error instanceof Error) || (error as { code?: string }).code !== 'ERR_SQLITE_ERROR') return error;
  const { errcode } = error as Error & { errcode?: number };
  const code = (errcode ?? 0) & 0xff;
  if (code === FULL) return diskFull(undefined, { cause: error });
  const words = WORDS[code];
  return badInput(words ? `${words}: ${error.message}` : error.message, { cause: error });
}
