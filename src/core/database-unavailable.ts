import { setTimeout } from 'node:timers/promises';
import { isDiskFull } from './disk-full.ts';
import { ApiError } from './errors.ts';

/** Limits the attempts to record something while Postgres is unavailable. */
const MAX_RECORD_TRIES = 60;
const RECORD_RETRY_MS = 500;

/**
 * A database of the service does not respond: 503. Only the code that calls it throws this. The same network errors of
 * other hosts must not count as such, because work is repeated after it.
 */
export class DatabaseUnavailable extends ApiError {
  constructor(cause: unknown, message = 'The database does not respond') {
    super(503, 'UNAVAILABLE', message, { cause, headers: { 'retry-after': '2' } });
  }
}

/**
 * Repeats `record` while Postgres is unavailable or its disk is full, for half a minute and until `isStopping`. Returns
 * its result. Use it for records that must survive a short restart of Postgres.
 */
export async function retryWhileUnavailable<T>(record: () => Promise<T>, isStopping: () => boolean): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await record();
    } catch (error) {
      const canPass = error instanceof DatabaseUnavailable || isDiskFull(error);
      if (!canPass || isStopping() || tries === MAX_RECORD_TRIES) throw error;
      await setTimeout(RECORD_RETRY_MS);
    }
  }
}
