import { expect } from 'vitest';
import type { ApiResponse } from './client.ts';
import type { Service } from './service.ts';

/**
 * Starts calls that change superusers of the tenant `other`, and releases their lock once all of them wait for it.
 * Returns their responses.
 */
export async function whileSuperusersAreLocked(
  service: Service,
  start: () => Promise<ApiResponse>[],
): Promise<ApiResponse[]> {
  let calls: Promise<ApiResponse>[] = [];
  await service.platform.system.transaction(async (query) => {
    await query({
      text: `
        select pg_advisory_xact_lock(hashtextextended('superusers:' || id, 0))
        from dws.tenant where slug = 'other'`,
    });
    calls = start();
    const countWaiting = async () =>
      (
        await query<{ count: number }>({
          text: `
            select count(*)::int from pg_locks l
            join pg_database d on d.oid = l.database
            where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`,
        })
      )[0]!.count;
    await expect.poll(countWaiting).toBe(calls.length);
  });
  return Promise.all(calls);
}
