import pg from 'pg';
import { vi } from 'vitest';
import type { Statement } from '../../src/core/database.ts';

/** The texts of the statements that took one round trip, in order. */
export type RoundTrip = string[];

/** Runs `work` and calls `before` with the statements of each round trip to the rows of tenants, before it is sent. */
async function interceptRoundTrips<T>(
  before: (texts: RoundTrip) => Promise<unknown> | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const original = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const { connectionParameters } = this as unknown as { connectionParameters: { application_name: string } };
    const { statements } = args[0] as { statements?: Statement[] };
    const isOfTenants = statements && connectionParameters.application_name === 'dws';
    const delay = isOfTenants ? before(statements.map(({ text }) => text)) : undefined;
    return delay ? delay.then(() => original.apply(this, args)) : original.apply(this, args);
  } as never);
  try {
    return await work();
  } finally {
    spy.mockRestore();
  }
}

/**
 * Runs `work` and returns the round trips to the rows of tenants during it, in order. `work` may call `restart` to
 * forget the round trips so far.
 */
export async function recordRoundTrips(work: (restart: () => void) => Promise<unknown>): Promise<RoundTrip[]> {
  const trips: RoundTrip[] = [];
  const record = (texts: RoundTrip) => void trips.push(texts);
  await interceptRoundTrips(record, () => work(() => trips.splice(0)));
  return trips;
}

/** Runs `work`. Waits for `act` before the first round trip with a statement that contains `sql` is sent. */
export async function actBeforeStatement<T>(
  sql: string,
  act: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  let hasActed = false;
  const result = await interceptRoundTrips((texts) => {
    if (hasActed || !texts.some((text) => text.includes(sql))) return undefined;
    hasActed = true;
    return act();
  }, work);
  if (!hasActed) throw new Error(`No statement contains ${sql}`);
  return result;
}
