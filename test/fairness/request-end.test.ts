import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { DatasetIndex } from '../../src/core/dataset-index.ts';
import { queryIndex } from '../../src/services/dataset/index-query.ts';
import { createOrders } from '../dataset/dataset-fixture.ts';
import type { Service } from '../support/service.ts';
import { test as base } from '../support/shop-fixture.ts';

/** Ann's orders, refreshed. */
const test = base.extend<{ orders: { id: string } }>({
  orders: [async ({ ann, source }, use) => use(await createOrders(ann, source, { refresh: true })), { scope: 'file' }],
});

/**
 * Replaces the profiles of the index by queries that end only when their signal aborts, and passes the signals to
 * `work`. `begun` resolves when this many queries have begun.
 */
async function withEndlessProfiles(
  { platform }: Service,
  work: (questions: { signals: AbortSignal[]; begun(count: number): Promise<unknown> }) => Promise<void>,
): Promise<void> {
  const signals: AbortSignal[] = [];
  const real = platform.index;
  const profile: DatasetIndex['profile'] = (_search, _fields, signal) => {
    signals.push(signal);
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  };
  platform.index = new Proxy(real, {
    get: (target, name) => {
      if (name === 'profile') return profile;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  try {
    await work({ signals, begun: (count) => expect.poll(() => signals.length).toBe(count) });
  } finally {
    platform.index = real;
  }
}

const allAborted = (signals: AbortSignal[]) => expect.poll(() => signals.every(({ aborted }) => aborted)).toBe(true);

describe('the work of a request ends', () => {
  /** Profiles of one dataset. One that fails nulls the dataset, and with it the whole response. */
  const questions = (id: string, ...fields: string[]) =>
    `dataset(id: "${id}") { ${fields.map((field, n) => `a${n}: discover(fields: ["${field}"]) { total }`).join(' ')} }`;

  test('when its response was sent, even if a question begins later', async ({ service, ann, orders }) => {
    await withEndlessProfiles(service, async ({ signals, begun }) => {
      // The unknown field fails the dataset before the other questions have a result.
      const { data, errors } = await ann.gql(`{ ${questions(orders.id, 'id', 'id', 'id', 'unknown')} }`);
      expect([data, errors[0].message]).toEqual([{ dataset: null }, 'Unknown field "unknown"']);
      await begun(3);
      await allAborted(signals);
    });
  });

  test('when its client hangs up', async ({ service, ann, orders }) => {
    await withEndlessProfiles(service, async ({ signals, begun }) => {
      const call = request(`${ann.url}/api/datasets/${orders.id}/discover`, { headers: ann.headers, agent: false });
      call.on('error', () => {});
      call.end();
      await begun(1);
      expect(signals[0]!.aborted).toBe(false);
      call.destroy();
      await allAborted(signals);
    });
  });

  test('when its client completes it on a socket, when it has a result, and with the socket', async ({
    service,
    ann,
    orders,
  }) => {
    await withEndlessProfiles(service, async ({ signals, begun }) => {
      const socket = new WebSocket(`${ann.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      const send = (message: object) => socket.send(JSON.stringify(message));
      const ask = (id: string, query: string) => send({ id, type: 'subscribe', payload: { query: `{ ${query} }` } });
      await once(socket, 'open');
      send({ type: 'connection_init', payload: ann.headers });
      await once(socket, 'message');

      ask('completed', questions(orders.id, 'id'));
      await begun(1);
      ask('open', questions(orders.id, 'id'));
      await begun(2);
      send({ id: 'completed', type: 'complete' });
      await allAborted(signals.slice(0, 1));
      expect(signals[1]!.aborted).toBe(false);

      ask('failed', questions(orders.id, 'id', 'unknown'));
      await begun(3);
      await allAborted(signals.slice(2));
      expect(signals[1]!.aborted).toBe(false);

      socket.close();
      await allAborted(signals);
    });
  });

  test('when a question to the index has taken 30 seconds', async () => {
    vi.useFakeTimers();
    try {
      const { signal } = new AbortController();
      const asked = queryIndex(
        { platform: { index: {} }, request: { signal } } as never,
        (_index, stop) =>
          new Promise((_, reject) => stop.addEventListener('abort', () => reject(stop.reason as Error))),
      ).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(29_999);
      await expect(Promise.race([asked, Promise.resolve('still running')])).resolves.toBe('still running');
      await vi.advanceTimersByTimeAsync(1);
      await expect(asked).resolves.toMatchObject({
        status: 503,
        code: 'UNAVAILABLE',
        message: 'The query of the dataset index took longer than 30 s',
        headers: { 'retry-after': '10' },
      });
    } finally {
      vi.useRealTimers();
    }
  });
});
