import { expect, onTestFinished } from 'vitest';
import { createSmtpMailer } from '../../src/adapters/mail/smtp-mailer.ts';
import { startMailDelivery, type DeliveryOptions } from '../../src/operations/mail-delivery.ts';
import { startMailServer, type MailServer } from './mail-server.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

const IMPATIENT: DeliveryOptions = {
  interval: 50,
  attemptTimeout: 5000,
  claimTimeout: 60_000,
  shutdownTimeout: 2000,
  retryDelays: [10, 10, 10],
};

/** Starts a mail server until the test ends. */
export async function openMailServer(options?: Parameters<typeof startMailServer>[0]): Promise<MailServer> {
  const server = await startMailServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Starts a process that sends the mails in the outbox of the service, until the test ends. */
export function startDelivery(service: Service, url: string, options: Partial<DeliveryOptions> = {}) {
  const delivery = startMailDelivery(
    service.platform,
    createSmtpMailer({ url, from: 'Workspace <dws@example.com>', host: 'example.com' }),
    { ...IMPATIENT, ...options },
  );
  onTestFinished(() => delivery.stop());
  return delivery;
}

interface MailState extends Record<string, unknown> {
  status: string;
  attempts: number;
  error: string | null;
  sent: boolean;
}

/** Returns the state of a mail, undefined if there is none. */
export const findMail = async (service: Service, id: string): Promise<MailState | undefined> =>
  (
    await systemQuery<MailState>(
      service,
      `select status, attempts, error, sent_at is not null as sent from dws.mail where id = $1`,
      id,
    )
  )[0];

/** Waits until the mail has these values. */
export const waitForMail = (service: Service, id: string, state: object) =>
  expect.poll(() => findMail(service, id)).toMatchObject(state);
