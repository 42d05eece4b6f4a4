import { ApiError } from './errors.ts';

/**
 * A database of the service does not respond: 503. Only the code that talks to it throws this. The same network errors of
 * other hosts must not count as such, because work is repeated after it.
 */
export class DatabaseUnavailable extends ApiError {
  constructor(cause: unknown, message = 'The database does not respond') {
    super(503, 'UNAVAILABLE', message, { cause, headers: { 'retry-after': '2' } });
  }
}
