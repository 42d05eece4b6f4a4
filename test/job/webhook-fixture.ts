import { createHmac, timingSafeEqual } from 'node:crypto';
import { Writable } from 'node:stream';
import { startListener, type Listener } from '../outbound/listener.ts';
import { startService, type Service } from '../support/service.ts';
import { test as base } from './job-fixture.ts';

interface WebhookFixtures {
  /** A service that may call 127.0.0.1. */
  service: Service;
  /** The log of the service. */
  logged: { text: string };
  receiver: Listener;
}

export const test = base.extend<WebhookFixtures>({
  logged: [async ({}, use) => use({ text: '' }), { scope: 'file' }],
  service: [
    async ({ logged }, use) => {
      const log = new Writable({
        write(chunk: Buffer, _encoding, done) {
          logged.text += chunk.toString();
          done();
        },
      });
      const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'debug' }, { log });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  receiver: async ({}, use) => {
    const receiver = await startListener('127.0.0.1');
    await use(receiver);
    await receiver.close();
  },
});

/** Returns the URL of a receiver. */
export const urlOf = ({ port }: Listener, path = '/hook'): string => `http://127.0.0.1:${port}${path}`;

/** Verifies a call as docs/contract/jobs.md#webhooks-of-jobs recommends to receivers. */
export function verify(
  secret: string,
  { headers, body }: { headers: Record<string, unknown>; body: string },
  now = Date.now() / 1000,
): boolean {
  const timestamp = String(headers['x-dws-timestamp']);
  const expected = Buffer.from(`v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`);
  const received = Buffer.from(String(headers['x-dws-signature']));
  const isEqual = received.length === expected.length && timingSafeEqual(received, expected);
  return isEqual && Math.abs(now - Number(timestamp)) <= 300;
}
