import { expect } from 'vitest';
import { queueMails } from '../../src/services/resource/mail.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { openMailServer, startDelivery, waitForMail } from '../support/mail-delivery.ts';
import { createMail, tenantIdOf } from '../support/mail-fixture.ts';
import type { MailServer } from '../support/mail-server.ts';
import type { Service } from '../support/service.ts';

const times = <T>(count: number, create: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => create(n));

/** Adds mails of a job to the outbox. */
async function queueOfJob(service: Service, user: Client, count: number): Promise<void> {
  const { platform } = service;
  const tenantId = await tenantIdOf(service, user);
  const mails = times(count, (n) => ({ userId: null, to: `${n}@example.com`, attachments: [] }));
  const content = { tenantId, source: 'job:test', senderId: user.id, subject: `Of ${user.username}`, text: 'x' };
  await platform.database.transaction(tenantId, (tx) => queueMails(platform, tx, content, mails));
}

const subjects = ({ received }: MailServer): (string | undefined)[] =>
  received.map(({ headers }) => headers.get('subject'));

/** Lets the server hold back the replies to mails of jobs. `waiting` are their subjects, in the order of arrival. */
function holdBack(server: MailServer) {
  const waiting: string[] = [];
  let reply = () => undefined as void;
  const replied = new Promise<void>((resolve) => (reply = resolve));
  let most = 0;
  server.judge = async ({ headers }) => {
    const subject = headers.get('subject')!;
    if (!subject.startsWith('Of ')) return;
    most = Math.max(most, waiting.push(subject));
    await replied;
    waiting.splice(waiting.indexOf(subject), 1);
  };
  return { waiting, reply, most: () => most };
}

test('mails of jobs do not delay others', async ({ service, ann, bob }) => {
  await queueOfJob(service, ann, 6);
  await queueOfJob(service, bob, 6);
  const server = await openMailServer();
  const { waiting, reply, most } = holdBack(server);
  startDelivery(service, server.url, { attemptTimeout: 60_000 });
  await expect.poll(() => waiting.length).toBe(2);
  const ids = await Promise.all(times(6, (n) => createMail(service, ann, { subject: `Later ${n}` })));
  for (const id of ids) await waitForMail(service, id, { status: 'sent' });
  expect(subjects(server).toSorted()).toEqual(times(6, (n) => `Later ${n}`));
  reply();
  await expect.poll(() => server.received.length).toBe(18);
  expect(most()).toBe(2);
});

test('an owner has half of the mails that jobs send concurrently', async ({ service, ann, bob }) => {
  await queueOfJob(service, ann, 12);
  const server = await openMailServer();
  const { waiting, reply } = holdBack(server);
  startDelivery(service, server.url, { attemptTimeout: 60_000 });
  await expect.poll(() => waiting).toEqual(['Of ann']);
  await queueOfJob(service, bob, 1);
  await expect.poll(() => waiting).toEqual(['Of ann', 'Of bob']);
  reply();
  await expect.poll(() => server.received.length).toBe(13);
});

test('owners of jobs take turns', async ({ service, ann, bob, stranger }) => {
  for (const [owner, count] of [
    [ann, 12],
    [bob, 3],
    [stranger, 2],
  ] as const)
    await queueOfJob(service, owner, count);
  const server = await openMailServer();
  startDelivery(service, server.url);
  await expect.poll(() => server.received.length).toBe(17);
  const last = Math.max(subjects(server).lastIndexOf('Of bob'), subjects(server).lastIndexOf('Of stranger'));
  expect(last).toBeLessThan(10);
});
