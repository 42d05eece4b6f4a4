import { expect, test } from 'vitest';
import { createSmtpMailer } from '../../src/adapters/mail/smtp-mailer.ts';
import { startMailDelivery } from '../../src/operations/mail-delivery.ts';
import { startMailServer } from '../support/mail-server.ts';
import { createDatabase } from '../support/postgres.ts';
import { ADMIN_PASSWORD, logIn, newFolder, startProcess } from '../support/service-process.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const APP_SECRET = 'a secret for tests of enough characters';

test('a mail whose sending process is killed after the server received it is not sent again', async () => {
  const server = await startMailServer();
  const [database, folder] = [await createDatabase(), newFolder()];
  const cleanups: (() => unknown)[] = [() => folder.remove(), () => database.drop(), () => server.close()];
  try {
    const sender = await startProcess({
      DATABASE_URL: database.url,
      DATA_DIR: folder.path,
      APP_SECRET,
      ADMIN_PASSWORD,
      SMTP_URL: server.url,
    });
    const killed = new Promise((resolve) => {
      server.judge = async () => {
        resolve(await sender.end('SIGKILL'));
        await new Promise(() => {});
      };
    });
    const admin = await logIn(sender.url);
    await admin.put('/me', { email: 'admin@example.com' });
    // The process ends before it responds.
    await admin.post('/password-reset', { username: 'admin' }).catch(() => {});
    expect(await killed).toBe('SIGKILL');

    const service = await startService({ APP_SECRET }, { databaseUrl: database.url });
    cleanups.push(() => service.close());
    const [claimed] = await systemQuery(service, `select status, attempts, claimed_at from dws.mail`);
    expect(claimed).toMatchObject({ status: 'queued', attempts: 1, claimed_at: expect.any(Date) });
    server.judge = () => {};
    const delivery = startMailDelivery(
      service.platform,
      createSmtpMailer({ url: server.url, from: 'dws@example.com', host: 'example.com' }),
      { interval: 50, attemptTimeout: 100, claimTimeout: 200, shutdownTimeout: 1000, retryDelays: [10] },
    );
    cleanups.push(() => delivery.stop());
    const readMail = async () => (await systemQuery(service, `select status, attempts, error from dws.mail`))[0];
    await expect.poll(readMail, { timeout: 15_000 }).toEqual({
      status: 'failed',
      attempts: 1,
      error: 'The sending process ended unexpectedly. It is unknown whether the mail arrived',
    });
    expect(server.received).toEqual([]);
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
}, 120_000);
