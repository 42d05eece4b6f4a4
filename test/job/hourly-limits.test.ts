import { expect } from 'vitest';
import { Notification } from '../../entities/notification.ts';
import { newRow } from '../../src/core/new-row.ts';
import { queueMails } from '../../src/services/resource/mail.ts';
import type { Client } from '../support/client.ts';
import { tenantIdOf } from '../support/mail-fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { attempt, createAction, ownerOf, run } from './driver-fixture.ts';
import { giveAddresses } from './email-fixture.ts';
import { test } from './job-fixture.ts';

/** Adds mails of a job of a user to the outbox, to plain addresses or to the user. */
async function queueOfJob(service: Service, user: Client, count: number, isPlain: boolean): Promise<void> {
  const { platform } = service;
  const tenantId = await tenantIdOf(service, user);
  const mail = { userId: isPlain ? null : user.id, to: 'x@example.com', attachments: [] };
  const content = { tenantId, source: `job:${count}`, senderId: user.id, subject: 'Of a job', text: 'x' };
  await platform.database.transaction(tenantId, (tx) =>
    queueMails(
      platform,
      tx,
      content,
      Array.from({ length: count }, () => mail),
    ),
  );
}

/** Type of the notifications of failed runs. */
const FAILED = 'job.run.failed';

const countOf = async (service: Service, table: 'mail' | 'notification'): Promise<number> =>
  (await systemQuery(service, `select id from dws.${table} t where to_jsonb(t) ->> 'type' is distinct from $1`, FAILED))
    .length;

const letAnHourPass = (service: Service, table: 'mail' | 'notification') =>
  systemQuery(service, `update dws.${table} set created_at = created_at - interval '1 hour'`);

const email = (owner: Client, ...recipients: string[]) =>
  createAction(owner, 'email', { recipients, subject: 'Figures', body: 'x' });

test('the jobs of an owner send 200 mails in an hour to plain addresses', async ({ service, ann, bob }) => {
  await giveAddresses(ann, bob);
  await queueOfJob(service, ann, 198, true);
  const plain = await email(ann, 'a@example.com');
  expect(await run(ann, plain)).toMatchObject({ success: true, log: ['Mails queued: 1'] });
  // Of two at the same time, one is the last.
  const both = await Promise.allSettled([1, 2].map(() => attempt(service, ownerOf(ann), plain)));
  const message = 'The jobs of an owner send at most 200 mails in an hour to addresses of no user';
  expect(both.toSorted((a, b) => (a.status < b.status ? -1 : 1))).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'RATE_LIMITED', message } },
  ]);
  const before = await countOf(service, 'mail');
  for (const action of [plain, await email(ann, 'ann', 'a@example.com')])
    for (const api of ['GraphQL', 'REST'] as const)
      expect(await run(ann, action, api)).toMatchObject({ success: false, error: message });
  expect(await countOf(service, 'mail')).toBe(before);
  expect(await run(ann, await email(ann, 'bob'))).toMatchObject({ success: true });
  expect(await run(bob, await email(bob, 'a@example.com'))).toMatchObject({ success: true });
  await letAnHourPass(service, 'mail');
  expect(await run(ann, plain)).toMatchObject({ success: true });
});

test('the jobs of a tenant send 1,000 mails in an hour', async ({ service, ann, bob, stranger }) => {
  await giveAddresses(ann, bob);
  await letAnHourPass(service, 'mail');
  await queueOfJob(service, stranger, 5, false);
  await queueOfJob(service, ann, 998, false);
  const [one, two] = [await email(ann, 'ann'), await email(bob, 'ann', 'bob')];
  const before = await countOf(service, 'mail');
  const error = 'The jobs of a tenant send at most 1000 mails in an hour';
  expect(await run(ann, one)).toMatchObject({ success: true });
  expect(await run(bob, two)).toMatchObject({ success: false, error });
  expect(await run(ann, one)).toMatchObject({ success: true });
  expect(await run(ann, one)).toMatchObject({ success: false, error });
  expect(await countOf(service, 'mail')).toBe(before + 2);
  await letAnHourPass(service, 'mail');
  expect(await run(bob, two)).toMatchObject({ success: true });
});

test('the jobs of a tenant send 1,000 notifications in an hour', async ({ service, ann, bob, stranger }) => {
  const add = async (user: Client, count: number, type: string) => {
    const tenantId = await tenantIdOf(service, user);
    await service.platform.database.transaction(tenantId, async (tx) => {
      for (let n = 0; n < count; n++)
        tx.insert(newRow(Notification, { tenantId, userId: user.id, type, message: 'x' }));
    });
  };
  await add(stranger, 5, 'job.notification');
  await add(ann, 5, 'dataset.filter.broken');
  await add(ann, 998, 'job.notification');
  const notify = (owner: Client, ...recipients: string[]) =>
    createAction(owner, 'notify', { recipients, message: 'Done' });
  const [one, two] = [await notify(ann, 'ann'), await notify(bob, 'ann', 'bob')];
  const before = await countOf(service, 'notification');
  const message = 'The jobs of a tenant send at most 1000 notifications in an hour';
  expect(await run(ann, one)).toMatchObject({ success: true });
  expect(await run(bob, two)).toMatchObject({ success: false, error: message });
  // Of two at the same time, one is the last.
  const both = await Promise.allSettled([1, 2].map(() => attempt(service, ownerOf(ann), one)));
  expect(both.toSorted((a, b) => (a.status < b.status ? -1 : 1))).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'RATE_LIMITED', message } },
  ]);
  expect(await countOf(service, 'notification')).toBe(before + 2);
  await letAnHourPass(service, 'notification');
  expect(await run(bob, two)).toMatchObject({ success: true });
});
