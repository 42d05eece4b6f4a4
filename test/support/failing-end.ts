import { DatabaseUnavailable } from '../../src/core/database-unavailable.ts';
import type { Platform } from '../../src/core/platform.ts';

/**
 * Loses the database the next times a sent call of an AI provider is ended, before the end is written. Returns how often it
 * was lost.
 */
export function loseEnds({ database }: Pick<Platform, 'database'>, times: number): { count: number } {
  const lost = { count: 0 };
  const original = database.transaction;
  database.transaction = (tenantId, work) =>
    original.call(database, tenantId, async (tx) => {
      const { query } = tx;
      tx.query = ((statement: { text: string }) => {
        if (lost.count === times || !/delete from dws\.credit_reservation[^;]*returning call/.test(statement.text))
          return query.call(tx, statement);
        lost.count += 1;
        if (lost.count === times) database.transaction = original;
        throw new DatabaseUnavailable(new Error('Connection terminated'));
      }) as typeof query;
      return work(tx);
    }) as never;
  return lost;
}
