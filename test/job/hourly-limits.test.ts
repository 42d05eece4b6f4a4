import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { findMailRecipients } from '../../src/services/resource/mail-recipients.ts';
import { queueMails } from '../../src/services/resource/mail.ts';
import type { Client } from '../support/client.ts';
import { tenantIdOf } from '../support/mail-fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { attempt, createAction, ownerOf, run, type TestAction } from './driver-fixture.ts';
import { giveAddresses } from './email-fixture.ts';
import { test } from './job-fixture.ts';

/** Adds mails of a job of a user to plain addresses to the outbox. */
async function queueOfJob(service: Service, user: Client, count: number): Promise<void> {
  const { platform } = service;
  const tenantId = await tenantIdOf(service, user);
  const mail = { userId: null, to: 'x@example.com', attachments: [] };
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

test('a mail has at most as many recipients besides the owner as a job sends in an hour', async () => {
  const members = Array.from({ length: 251 }, (_, n) => ({ id: `${n}`, email: `${n}@example.com`, active: true }));
  const find = (ownerId: string, count: number, ...addresses: string[]) =>
    findMailRecipients({ query: (async () => members.slice(0, count)) as never }, { tenantId: 'one', ownerId }, [
      'team:all',
      ...addresses,
    ]);
  expect((await find('0', 251)).users).toHaveLength(251);
  expect(await find('another', 249, 'a@example.org')).toMatchObject({ addresses: ['a@example.org'] });
  const message = 'The mail has 251 recipients besides the owner; the maximum is 250';
  await expect(find('another', 251)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', message });
  await expect(find('0', 251, 'a@example.org')).rejects.toMatchObject({ message });
});

test('the jobs of an owner send 200 mails in an hour to plain addresses', async ({ service, ann, bob }) => {
  await giveAddresses(ann, bob);
  await queueOfJob(service, ann, 198);
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

type Table = 'mail' | 'notification';

/** Adds messages of jobs of an owner to a user, by default of jobs that were deleted. */
async function fill(service: Service, table: Table, owner: Client, to: Client, count: number, job?: TestAction) {
  const tenantId = await tenantIdOf(service, owner);
  if (table === 'notification') {
    await systemQuery(
      service,
      `insert into dws.notification (id, tenant_id, user_id, sender_id, type, message, resource_kind, resource_id)
      select gen_random_uuid(), $1, $2, $3, 'job.notification', 'x', 'job', $4 from generate_series(1, $5)`,
      tenantId,
      to.id,
      owner.id,
      job?.job.id ?? newId(),
      count,
    );
    return;
  }
  const runId = newId();
  if (job)
    await systemQuery(
      service,
      `insert into dws.job_run (id, tenant_id, job_id, trigger, status, finished_at)
      values ($1, $2, $3, 'manual', 'succeeded', now())`,
      runId,
      tenantId,
      job.job.id,
    );
  await systemQuery(
    service,
    `insert into dws.mail (id, tenant_id, user_id, recipient, subject, sealed_text, source, sender_id, status)
    select gen_random_uuid(), $1, $2, 'x@example.com', 'x', '', $3, $4, 'sent' from generate_series(1, $5)`,
    tenantId,
    to.id,
    `job:${runId}:${newId()}`,
    owner.id,
    count,
  );
}

describe.for(['mail', 'notification'] as const)('of the %ss that jobs of a tenant send in an hour', (table) => {
  const send = (owner: Client, ...recipients: Client[]) => {
    const to = recipients.map(({ username }) => username);
    return table === 'mail' ? email(owner, ...to) : createAction(owner, 'notify', { recipients: to, message: 'Done' });
  };
  const refusal = (text: string) => ({ success: false, error: text.replace('messages', `${table}s`) });

  test('an owner sends at most half to others, and as much to the owner alone', async ({
    service,
    ann,
    bob,
    admin,
  }) => {
    await giveAddresses(ann, bob, admin);
    await letAnHourPass(service, table);
    await fill(service, table, ann, bob, 499);
    await fill(service, table, ann, ann, 499);
    const [toBob, toAnn] = [await send(ann, bob), await send(ann, ann)];
    for (const action of [toBob, toAnn]) expect(await run(ann, action)).toMatchObject({ success: true });
    const before = await countOf(service, table);
    const others = refusal('The jobs of an owner send at most 500 messages in an hour to others');
    const own = refusal('The jobs of an owner send at most 500 messages in an hour to the owner');
    for (const api of ['GraphQL', 'REST'] as const) {
      expect(await run(ann, toBob, api)).toMatchObject(others);
      expect(await run(ann, toAnn, api)).toMatchObject(own);
    }
    expect(await countOf(service, table)).toBe(before);
    // Messages of another owner have the other half. Messages of ann to ann do not use it.
    await fill(service, table, bob, ann, 499);
    expect(await run(bob, await send(bob, ann))).toMatchObject({ success: true });
    const late = await send(admin, ann);
    expect(await run(admin, late)).toMatchObject(refusal('The jobs of a tenant send at most 1000 messages in an hour'));
    expect(await run(admin, await send(admin, admin))).toMatchObject({ success: true });
    await letAnHourPass(service, table);
    expect(await run(admin, late)).toMatchObject({ success: true });
  });

  test('a job sends at most a quarter', async ({ service, ann, bob }) => {
    await giveAddresses(ann, bob);
    await letAnHourPass(service, table);
    const action = await send(ann, bob);
    await fill(service, table, ann, bob, 248, action);
    expect(await run(ann, action)).toMatchObject({ success: true });
    await fill(service, table, ann, bob, 1, action);
    const refused = refusal('A job sends at most 250 messages in an hour to others');
    expect(await run(ann, action)).toMatchObject(refused);
    expect(await run(ann, await send(ann, bob))).toMatchObject({ success: true });
  });

  test('of two at the same time, one is the last', async ({ service, ann, bob }) => {
    await giveAddresses(ann, bob);
    await letAnHourPass(service, table);
    await fill(service, table, ann, bob, 499);
    const action = await send(ann, bob);
    const both = await Promise.allSettled([1, 2].map(() => attempt(service, ownerOf(ann), action)));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});
