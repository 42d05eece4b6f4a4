import pg from 'pg';
import { vi } from 'vitest';
import type { Statement } from '../../src/core/database.ts';

/** The texts of the statements that took one round trip, in order. */
export type RoundTrip = string[];

/**
 * Runs `work` and returns the round trips to the rows of tenants during it, in order. `work` may call `restart` to
 * forget the round trips so far.
 */
export async function recordRoundTrips(work: (restart: () => void) => Promise<unknown>): Promise<RoundTrip[]> {
  const trips: RoundTrip[] = [];
  const original = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const { connectionParameters } = this as unknown as { connectionParameters: { application_name: string } };
    const { statements } = args[0] as { statements?: Statement[] };
    if (statements && connectionParameters.application_name === 'dws') trips.push(statements.map(({ text }) => text));
    return original.apply(this, args);
  } as never);
  try {
    await work(() => trips.splice(0));
    return trips;
  } finally {
    spy.mockRestore();
  }
}
