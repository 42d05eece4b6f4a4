import { forgetStorage } from '../../src/services/resource/storage-limit.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/** The error of a request that would store more. */
export const STORAGE_FULL = 'The tenant stores more than 5000000000 bytes in the database';

/** Lets the storage of the default tenant seem used up, as a worker measures it. Returns the function that undoes it. */
export async function fillStorage(service: Service): Promise<() => Promise<void>> {
  const set = async (bytes: number) => {
    const [tenant] = await systemQuery<{ id: string }>(
      service,
      `insert into dws.store_size (tenant_id, app_id, store, bytes)
       select id, null, 'activity', $1::bigint from dws.tenant where slug = 'default'
       on conflict (tenant_id, store, app_id) do update set bytes = excluded.bytes
       returning tenant_id as id`,
      bytes,
    );
    forgetStorage(service.platform, tenant!.id);
  };
  await set(5_000_000_001);
  return () => set(0);
}
