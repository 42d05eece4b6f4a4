import { test as base } from 'vitest';
import type { Client } from './client.ts';
import { startService, type Service } from './service.ts';

/** The callers of a test file. Each test file has a service and a database of its own, created on first use. */
export interface World {
  service: Service;
  /** Superuser of tenant `default`. */
  admin: Client;
  /** Ordinary users of tenant `default`. */
  ann: Client;
  bob: Client;
  /** Superuser of another tenant. */
  stranger: Client;
  /** A caller without credentials. */
  anonymous: Client;
}

export const test = base.extend<World>({
  service: [
    async ({}, use) => {
      const service = await startService();
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  admin: [async ({ service }, use) => use(await service.user('admin', { superuser: true })), { scope: 'file' }],
  ann: [async ({ service }, use) => use(await service.user('ann')), { scope: 'file' }],
  bob: [async ({ service }, use) => use(await service.user('bob')), { scope: 'file' }],
  stranger: [
    async ({ service }, use) => use(await service.user('stranger', { tenant: 'other', superuser: true })),
    { scope: 'file' },
  ],
  anonymous: [
    async ({ service }, use) => use(new (await import('./client.ts')).Client(service.url)),
    { scope: 'file' },
  ],
});
