import { expect } from 'vitest';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from '../support/shop-fixture.ts';
import { createOrders } from './dataset-fixture.ts';

// The service looks at the disk once in a while, so that what was seen applies to later tests of a file.
test('a refresh ends when the disk is nearly full, and its dataset keeps its rows', async ({
  service,
  ann,
  source,
  shop,
}) => {
  const { id } = await createOrders(ann, source, { refresh: true });
  const query = 'select n, pg_sleep(0.01)::text as slept from generate_series(1, 100000) n';
  await expectStatus(ann.put(`/datasets/${id}`, { query }), 200);
  const { body } = await ann.post(`/datasets/${id}/_refresh`, {}, { prefer: 'respond-async' });
  const { platform } = service;
  const { freeBytes } = platform;
  const isRunning = async () =>
    (await shop.sql(`select from pg_stat_activity where query like '%pg_sleep(0.01)%' and state = 'active'`)).length >
    1;
  await expect.poll(isRunning).toBe(true);
  platform.freeBytes = async () => 0;
  try {
    const status = async () => (await ann.get(`/progress/${body.id}`)).body.status;
    await expect.poll(status).toBe('failed');
  } finally {
    platform.freeBytes = freeBytes;
  }
  await expectBody(ann.get(`/progress/${body.id}`), 200, {
    error: { code: 'UNAVAILABLE', message: expect.stringContaining('disk is nearly full') },
  });
  await expectBody(ann.get(`/datasets/${id}`), 200, { records: 20, lastRefresh: { success: false } });
  await expect.poll(isRunning).toBe(false);
});
