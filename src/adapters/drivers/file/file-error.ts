import { isDiskFull } from '../../../core/disk-full.ts';
import { ApiError, badInput, diskFull } from '../../../core/errors.ts';
import { ENGINE_MEMORY } from '../query-process/limits.ts';

/** Internal errors of DuckDB, which are not caused by a text or file. */
const OWN_FAULT = /^(INTERNAL|FATAL)/;
const CSV_ERROR = /CSV Error on Line: (\d+)\n/;
const CSV_REASONS = [
  'Expected Number of Columns: \\d+ Found: \\d+',
  'Value with unterminated quote found',
  'Maximum line size of \\d+ bytes exceeded',
  'Invalid unicode[^.]*',
  'Error when converting[^\\n]*',
];
const UNCLOSED =
  'a quote is not closed, or text follows a closed one. ' +
  'Set quote to "" if values are not quoted, or escape to the character before quotes in them';
const RAGGED =
  '. Set ragged to true if records may have fewer values than columns, or skip if other lines precede the table';
/** DuckDB counts the record after the malformed one. */
const JSON_ERROR = /Malformed JSON in file "[^"\n]*", at byte (\d+) in (?:record\/value|line) (\d+): (.*)/;
/** Reasons of DuckDB, and what a user can do. */
const JSON_REASONS: [reported: string, said: string][] = [
  ['input length is 0', 'no value follows a comma or stands before it: remove the comma'],
  ['unexpected control character in string', 'a control character in a text: write it by an escape such as \\t or \\n'],
];
const CSV_REASON = new RegExp(`^(${CSV_REASONS.join('|')})`, 'm');

/**
 * Turns an error of DuckDB into BAD_USER_INPUT with one sentence, or UNAVAILABLE for a full disk. Returns any other error
 * unchanged.
 */
export function fileError(error: unknown): unknown {
  if (
    !(error instanceof Error) ||
    error instanceof ApiError ||
    OWN_FAULT.test(error.message) ||
    !/^[A-Z][\w ]* (Error|Exception): /.test(error.message)
  )
    return error;
  // Temporary data that exceeds its limit is an error of the query, and of memory.
  const isQueryTooLarge = error.message.startsWith('Out of Memory Error');
  if (isDiskFull(error) && !isQueryTooLarge) return diskFull(undefined, { cause: error });
  return badInput(words(error.message), { cause: error });
}

function words(message: string): string {
  if (message.startsWith('Out of Memory Error'))
    return `The query needs more memory than the ${ENGINE_MEMORY / 1024 ** 2} MiB that it may use`;
  const line = CSV_ERROR.exec(message)?.[1];
  if (line)
    return `Line ${line} of the file: ${
      CSV_REASON.exec(message)?.[0]
        .replace('Number of Columns', 'number of columns')
        .replace(/ Found: \d+$/, (found) => `,${found.toLowerCase()}${RAGGED}`)
        .replace(/^Value with unterminated quote found/, UNCLOSED) ?? 'cannot be read as CSV'
    }`;
  const [, byte, next, reason] = JSON_ERROR.exec(message) ?? [];
  if (next) {
    const [, said] = JSON_REASONS.find(([reported]) => reason!.startsWith(reported)) ?? [];
    return `Malformed JSON at byte ${byte} of record ${Number(next) - 1}: ${said ?? reason!.trim()}`;
  }
  if (message.includes('CSV Parser state machine'))
    return 'The file cannot be read as CSV: its lines end in different ways, or a value is quoted wrongly';
  if (message.includes('Could not convert Timestamp')) return 'The file has a time in a year that cannot be read';
  if (message.includes('maximum_object_size')) return `A JSON object is longer than 16 MiB`;
  return message
    .split(/\n[^\S\n]*\n|\nLINE \d|\nPossible |\n {2}file = |(?<!\s)\s+Try setting '/)[0]!
    .replace(/^[A-Z][\w ]* Error: /, '')
    .replaceAll('\n', ' ')
    .trim()
    .slice(0, 1000);
}
