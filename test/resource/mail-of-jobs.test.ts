import { expect } from 'vitest';
import { createMailClaims } from '../../src/operations/mail-claims.ts';
import { queueMails } from '../../src/services/resource/mail.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { openMailServer, startDelivery, waitForMail } from '../support/mail-delivery.ts';
import { createMail, tenantIdOf } from '../support/mail-fixture.ts';
import type { MailServer } from '../support/mail-server.ts';
import type { Service } from '../support/service.ts';

/** Adds mails of a job to the outbox. */
async function queueOfJob(service: Service, user: Client, count: number): Promise<void> {
  const { platform } = service;
  const tenantId = await tenantIdOf(service, user);
  const mails = Array.from({ length: count }, (_, n) => ({ userId: null, to: `${n}@example.com`, attachments: [] }));
  const content = { tenantId, source: 'job:test', senderId: user.id, subject: 'Of a job', text: 'x' };
  await platform.database.transaction(tenantId, (tx) => queueMails(platform, tx, content, mails));
}

const subjects = ({ received }: MailServer): (string | undefined)[] =>
  received.map(({ headers }) => headers.get('subject'));

test('mails of jobs are sent after all others, and leave half of the senders free', async ({ service, ann }) => {
  await queueOfJob(service, ann, 12);
  const first = await createMail(service, ann, { subject: 'Queued last' });
  const server = await openMailServer();
  let reply = () => undefined as void;
  const replied = new Promise<void>((resolve) => (reply = resolve));
  let [waiting, most] = [0, 0];
  server.judge = async ({ headers }) => {
    if (headers.get('subject') !== 'Of a job') return;
    most = Math.max(most, ++waiting);
    await replied;
    waiting--;
  };
  startDelivery(service, server.url, { attemptTimeout: 60_000 });
  await waitForMail(service, first, { status: 'sent' });
  await expect.poll(() => waiting).toBe(2);
  // The senders of the mails of jobs wait for the server.
  for (let n = 0; n < 5; n++) {
    const id = await createMail(service, ann, { subject: `Later ${n}` });
    await waitForMail(service, id, { status: 'sent' });
  }
  expect(subjects(server)).toEqual(['Queued last', ...Array.from({ length: 5 }, (_, n) => `Later ${n}`)]);
  reply();
  await expect.poll(() => server.received.length).toBe(18);
  expect(most).toBe(2);
});

test('a mail that is queued last is claimed before those of jobs', async ({ service, ann }) => {
  await queueOfJob(service, ann, 2);
  const id = await createMail(service, ann, { subject: 'Queued last' });
  const claims = createMailClaims(service.platform, 1);
  expect(await claims.claim()).toMatchObject({ id, isOfJob: false });
  const ofJob = (await claims.claim())!;
  expect(ofJob).toMatchObject({ subject: 'Of a job', isOfJob: true });
  expect(await claims.claim()).toBeUndefined();
  claims.release(ofJob);
  expect(await claims.claim()).toMatchObject({ subject: 'Of a job' });
});
