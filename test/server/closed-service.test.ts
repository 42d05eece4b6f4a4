import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Platform } from '../../src/core/platform.ts';
import { startService } from '../support/service.ts';

/** Starts a service, calls it, and closes it. Returns what its process may then forget. */
async function startAndClose(): Promise<WeakRef<Platform>> {
  const service = await startService();
  const ann = await service.user('ann');
  expect((await ann.get('/datasets')).status).toBe(200);
  expect((await ann.request('GET', '/metrics')).body).toContain('nodejs_gc_duration_seconds');
  const platform = new WeakRef(service.platform);
  await service.close();
  return platform;
}

test('nothing in its process keeps a closed service in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const closed = [await startAndClose(), await startAndClose()];
  // A running query may have the last connection.
  await startAndClose();
  await expect
    .poll(() => {
      collect();
      return closed.map((platform) => platform.deref() !== undefined);
    })
    .toEqual([false, false]);
});
