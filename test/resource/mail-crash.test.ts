import { expect, test } from 'vitest';
import { createSmtpMailer } from '../../src/adapters/mail/smtp-mailer.ts';
import { startMailDelivery } from '../../src/operations/mail-delivery.ts';
import { addEmail, putFile } from '../job/email-fixture.ts';
import { createJob, createNotify } from '../job/job-fixture.ts';
import type { Client } from '../support/client.ts';
import { startMailServer, type MailServer } from '../support/mail-server.ts';
import { createDatabase } from '../support/postgres.ts';
import { ADMIN_PASSWORD, logIn, newFolder, startProcess, type ServiceProcess } from '../support/service-process.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const APP_SECRET = 'a secret for tests of enough characters';

/** Kills the sender after the server received its mail. Resolves with the signal that ended it. */
const killAfterMail = (server: MailServer, sender: ServiceProcess) =>
  new Promise((resolve) => {
    server.judge = async () => {
      resolve(await sender.end('SIGKILL'));
      await new Promise(() => {});
    };
  });

/** Kills the sender while it sends an attached file. Resolves with the signal that ended it. */
const killWithinMail = (server: MailServer, sender: ServiceProcess) =>
  new Promise((resolve) => {
    server.begin = () => void sender.end('SIGKILL').then(resolve);
  });

/** Causes a mail with a password link. The process ends before it responds. */
async function sendLink(admin: Client): Promise<void> {
  await admin.put('/me', { email: 'admin@example.com' });
  await admin.post('/password-reset', { username: 'admin' }).catch(() => {});
}

/** Causes a mail of a job, with a file. */
async function sendFile(admin: Client): Promise<void> {
  const job = await createJob(admin);
  const source = await createNotify(admin, job, 'Source');
  await putFile(admin, job, source, { content: Buffer.alloc(15_000_000), filename: 'a', type: 'application/x-a' });
  await addEmail(admin, job, { recipients: ['far@example.com'], attach: [source] });
  await admin.post(job.path, {}).catch(() => {});
}

test.for([
  ['after the server received it', killAfterMail, sendLink],
  ['while it sends an attached file', killWithinMail, sendFile],
] as const)(
  'a mail whose sending process is killed %s is not sent again',

  async ([, kill, send]) => {
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
      const killed = kill(server, sender);
      await send(await logIn(sender.url));
      expect(await killed).toBe('SIGKILL');

      const service = await startService({ APP_SECRET, DATA_DIR: folder.path }, { databaseUrl: database.url });
      cleanups.push(() => service.close());
      const [claimed] = await systemQuery(service, `select status, attempts, claimed_at from dws.mail`);
      expect(claimed).toMatchObject({ status: 'queued', attempts: 1, claimed_at: expect.any(Date) });
      [server.judge, server.begin] = [() => {}, () => {}];
      // An attempt counts as dead after its time for the file, too.
      await systemQuery(service, `update dws.mail set claimed_at = claimed_at - interval '301 seconds'`);
      const delivery = startMailDelivery(
        service.platform,
        createSmtpMailer({ url: server.url, from: 'dws@example.com', host: 'example.com' }),
        { interval: 50, attemptTimeout: 100, claimTimeout: 200, shutdownTimeout: 1000, retryDelays: [10] },
      );
      cleanups.push(() => delivery.stop());
      const readMail = async () => (await systemQuery(service, `select status, attempts, error from dws.mail`))[0];
      await expect.poll(readMail).toEqual({
        status: 'failed',
        attempts: 1,
        error: 'The sending process ended unexpectedly. It is unknown whether the mail arrived',
      });
      expect(server.received).toEqual([]);
      expect(await systemQuery(service, `select * from dws.mail_attachment`)).toEqual([]);
    } finally {
      for (const cleanUp of cleanups.reverse()) await cleanUp();
    }
  },
);
