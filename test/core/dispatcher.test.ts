import { expect, test, vi } from 'vitest';
import { Dispatcher } from '../../src/adapters/queue/dispatcher.ts';

test('a queue whose places are all taken does not wake up for work that waits for its time', async () => {
  vi.useFakeTimers();
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const user = { tenantId: 'tenant', userId: 'user' };
  const dispatcher = new Dispatcher({
    concurrency: 1,
    perTenant: 2,
    list: async () => ({ users: [user], nextInMs: 1 }),
    fetch: async () => ({ ...user, workId: 'work', operation: 'job.run' as const }),
    giveBack: async () => {},
    run: () => new Promise(() => {}),
    onError: (error) => expect.unreachable(String(error)),
  });
  await vi.advanceTimersByTimeAsync(1000);
  expect(timers.mock.calls.map(([, pause]) => pause)).toEqual([2000]);
  void dispatcher.stop();
  vi.useRealTimers();
});
