import { expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { startService } from '../support/service.ts';

const LISTENER = 'dws listener';

test('a process whose notifications are stalled asks the database who may call', async ({
  service,
  admin,
  ann,
  bob,
}) => {
  const proxy = new PostgresProxy(service.databaseUrl);
  await proxy.open();
  const { DATA_DIR } = service.platform.config;
  const second = await startService({ ROLE: 'web', DATA_DIR }, { databaseUrl: proxy.url });
  const elsewhere = (client: Client) => new Client(second.url, client.headers);
  const [annThere, bobThere] = [elsewhere(ann), elsewhere(bob)];
  const status = async (client: Client) => (await client.get('/session')).status;
  const session = await service.login(admin.username);
  const makeSuperuser = (superuser: boolean) =>
    expectStatus(session.put(`/users/${bob.id}/superuser`, { superuser }), 200);
  await makeSuperuser(true);
  expect([await status(annThere), await status(bobThere)]).toEqual([200, 200]);
  const readsAudit = async () => (await bobThere.get('/audit')).status;
  await expect.poll(readsAudit).toBe(200);
  await expect.poll(() => second.platform.notifications.connected).toBe(true);

  let reconnects = 0;
  second.platform.notifications.onResync(() => (reconnects += 1));
  const goOn = proxy.stall(LISTENER);
  await admin.put('/users/ann', { locked: true });
  await expect.poll(() => status(annThere)).toBe(401);
  await makeSuperuser(false);
  await expect.poll(readsAudit).toBe(403);

  goOn();
  await expect.poll(() => second.platform.notifications.connected).toBe(true);
  await admin.put('/users/ann', { locked: false });
  await expect.poll(() => status(annThere)).toBe(200);
  // It did not need to find its connection lost.
  expect(reconnects).toBe(0);
  await second.close();
  await proxy.close();
});
