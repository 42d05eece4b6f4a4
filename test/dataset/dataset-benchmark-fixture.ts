import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { Shop } from '../support/shop-fixture.ts';

/** The config of the shortest benchmark. */
export const ONE_RUN = { iterations: 1, warmup: 0 };

/** The three ways to run: the config, the statement that then runs in the source, and the config that it implies. */
export const WAYS = [
  ['counting', {}, /^select pg_catalog\.count/, {}],
  ['reading', { includeDataTransfer: true }, /^COPY/, {}],
  ['loading', { includeIndexing: true }, /^COPY/, { includeDataTransfer: true }],
] as const;

/** Blocks queries with `GATED` until the returned function is called or the test ends. */
export async function closeGate(shop: Shop): Promise<() => Promise<void>> {
  const gate = new pg.Client(shop.url);
  await gate.connect();
  await gate.query('select pg_advisory_lock(1)');
  onTestFinished(() => gate.end());
  return () => gate.end();
}

/** Returns the statements that wait at the gate. */
export async function listWaiting(shop: Shop): Promise<string[]> {
  const waiting = await shop.sql(`
    select query
    from pg_stat_activity
    where datname = current_database() and state = 'active'
      and query like '%pg_advisory_lock_shared(1)%' and pid <> pg_backend_pid()`);
  return waiting.map(({ query }) => String(query));
}
