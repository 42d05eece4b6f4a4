import type { Transaction } from '../../src/core/platform.ts';
import { notify, type NewNotification } from '../../src/services/resource/notification.ts';
import type { Client } from './client.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

export const BROKEN_FILTER = {
  type: 'dataset.filter.broken',
  message: 'The filter EU of Orders no longer fits its fields.',
};

/** Runs `work` in a transaction of the tenant `default`. */
export async function inTransaction<T>(
  service: Service,
  work: (tx: Transaction, tenantId: string) => Promise<T>,
): Promise<T> {
  const [tenant] = await systemQuery<{ id: string }>(service, `select id from dws.tenant where slug = 'default'`);
  return service.platform.database.transaction(tenant!.id, (tx) => work(tx, tenant!.id));
}

export const notifyPrincipals = (
  service: Service,
  principals: readonly string[],
  notification: Partial<NewNotification> = {},
): Promise<number> =>
  inTransaction(service, (tx, tenantId) => notify(tx, tenantId, principals, { ...BROKEN_FILTER, ...notification }));

export const notifyUser = (service: Service, { id }: Client, message: string): Promise<number> =>
  notifyPrincipals(service, [`user:${id}`], { message });
