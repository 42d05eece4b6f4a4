import { expect, test } from 'vitest';
import { toFailure } from '../../src/adapters/app-workspace/statement.ts';
import { databaseError } from '../../src/adapters/database/pool.ts';
import { toApiError } from '../../src/core/api-error.ts';
import { DatabaseUnavailable } from '../../src/core/database-unavailable.ts';
import { unavailable } from '../../src/core/errors.ts';

const networkError = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

test.each(['ENOTFOUND', 'ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN'])('%s is a database only by its code', (code) => {
  const error = networkError(code);
  expect(toApiError(error)).toBeUndefined();
  const other = unavailable('The host "x" does not respond', { cause: error });
  expect(other).not.toBeInstanceOf(DatabaseUnavailable);
  expect(toApiError(other)).toBe(other);
  const own = databaseError(error);
  expect(own).toBeInstanceOf(DatabaseUnavailable);
  expect(toApiError(own)).toMatchObject({ status: 503, code: 'UNAVAILABLE', headers: { 'retry-after': '2' } });
  expect(toFailure(error)).toBeInstanceOf(DatabaseUnavailable);
});
