import { expect } from 'vitest';
import type { Query } from '../../src/core/database.ts';
import type { ApiResponse } from './client.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/**
 * Sends a request, and changes something before it writes to the row of a user: a transaction holds the row until the
 * request waits for it, and commits with the change. Returns the response.
 */
export async function changeDuring(
  service: Service,
  userId: string,
  send: () => Promise<ApiResponse>,
  change: (query: Query) => Promise<unknown>,
): Promise<ApiResponse> {
  const { response } = await service.platform.system.transaction(async (query) => {
    await query({ text: `select id from dws.app_user where id = $1 for update`, values: [userId] });
    const sent = send();
    await expect.poll(() => findWaiting(service), { timeout: 10_000 }).not.toEqual([]);
    await change(query);
    return { response: sent };
  });
  return response;
}

const findWaiting = (service: Service): Promise<object[]> =>
  systemQuery(
    service,
    `select pid from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted`,
  );
