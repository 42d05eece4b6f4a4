import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { discardRest } from '../../rest-bridge/closing-connections.ts';

test('a refused request without a connection, which a handler of an app sends, is left alone', () => {
  vi.useFakeTimers();
  // As light-my-request has it: the stand-in of the socket has no `destroy`.
  const body = Object.assign(new PassThrough({ autoDestroy: false }), { socket: {} });
  discardRest(body as unknown as IncomingMessage);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
