import type { AppLogLevel } from '../../../entities/app-log.ts';
import type { EndedRun } from '../../core/app-run.ts';
import { storedError } from './app-record-text.ts';

/** Maximum size of the lines of one run, in bytes of UTF-8. */
export const MAX_LOG_BYTES = 65_536;
const MAX_LINES = 1000;

/** The lowest status of failures that the app or the service caused. */
const FIRST_SERVER_ERROR = 500;

const CUT = { level: 'warn', message: '… The rest of the log was left out.' } as const;

/**
 * Returns the lines of a run that are stored: what it logged, up to the limits, and its failure. A call that fails
 * because of its caller before it reaches a handler is not logged: unknown callers could fill the log.
 */
export function runLines({ logs, error, ...run }: EndedRun): { level: AppLogLevel; message: string }[] {
  const lines: { level: AppLogLevel; message: string }[] = [];
  let bytes = 0;
  for (const { level, text } of logs) {
    const message = text.replaceAll('\0', '\u{fffd}').toWellFormed();
    bytes += Buffer.byteLength(message);
    if (bytes > MAX_LOG_BYTES || lines.length === MAX_LINES) {
      lines.push(CUT);
      break;
    }
    lines.push({ level, message });
  }
  const isRefused = run.computeMs === 0 && run.call !== undefined && run.call.status < FIRST_SERVER_ERROR;
  if (error !== null && !isRefused) lines.push({ level: 'error', message: storedError(error) });
  return lines;
}
