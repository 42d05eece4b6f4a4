import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { describe, expect, vi } from 'vitest';
import type { Query } from '../../src/core/database.ts';
import { yieldOnce } from '../../src/core/files.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { hasQueuedMails, queueMails, type AttachedFile } from '../../src/services/resource/mail.ts';
import { insertStoredFile } from '../../src/services/resource/stored-file.ts';
import { QUICK } from '../operation/platform.ts';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { findMail, openMailServer, startDelivery, waitForMail } from '../support/mail-delivery.ts';
import { tenantIdOf } from '../support/mail-fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** Content of a file, with its description in the mail. */
interface TestFile {
  filename: string;
  contentType: string;
  bytes: Buffer;
}

const CSV: TestFile = {
  filename: 'Zahlen für uns.csv',
  contentType: 'text/csv',
  bytes: Buffer.from('a,b\n1,"ä\r\n"\n'),
};
/** Larger than a chunk of a stream. Mail programs would not encode its type. */
const LARGE: TestFile = { filename: 'large.eml', contentType: 'message/rfc822', bytes: randomBytes(3_000_001) };

async function saveFiles({ platform }: Service, files: readonly TestFile[]): Promise<AttachedFile[]> {
  const saved: AttachedFile[] = [];
  for (const { bytes, ...label } of files)
    saved.push({ ...(await platform.files.save(yieldOnce(bytes), 0)), ...label });
  return saved;
}

/** Adds a mail with these files to each address to the outbox. Returns the ids of the files. */
async function mailFiles(
  service: Service,
  sender: Client,
  files: readonly TestFile[],
  to: readonly string[],
): Promise<string[]> {
  const { platform } = service;
  const tenantId = await tenantIdOf(service, sender);
  const attachments = await saveFiles(service, files);
  await platform.database.transaction(tenantId, async (tx) => {
    for (const file of attachments) insertStoredFile(tx, tenantId, { ...file, sha256: '' });
    const mails = to.map((address) => ({ userId: null, to: address, attachments }));
    const content = { tenantId, source: `test:${to[0]}`, senderId: sender.id, subject: 'Files', text: 'See' };
    await queueMails(platform, tx, content, mails);
  });
  return attachments.map(({ id }) => id);
}

const mailTo = async (service: Service, address: string): Promise<string> =>
  (await systemQuery<{ id: string }>(service, `select id from dws.mail where recipient = $1`, address))[0]!.id;

const rowsOf = async (service: Service, ids: readonly string[]): Promise<number> =>
  (await systemQuery(service, `select id from dws.stored_file where id = any($1)`, ids)).length;

/** Returns the number of connections to the database that wait for a lock. */
async function waiting(service: Service): Promise<number> {
  const [found] = await systemQuery<{ count: number }>(
    service,
    `select count(*)::int from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted`,
  );
  return found!.count;
}

/** Does a pass of the janitor, unless another process does one. Returns the mails to an address that are left. */
async function sweep(service: Service, to = ''): Promise<object[]> {
  await reconcile(service.platform, {}, { ...QUICK, orphanAge: 600_000, fileAge: 0 });
  return systemQuery(service, `select id from dws.mail where recipient = $1`, to);
}

/** Expects that passes of the janitor remove the bytes of files. */
const expectGone = (service: Service, ids: readonly string[]) =>
  expect
    .poll(async () => {
      await sweep(service);
      return (await service.platform.files.list()).filter(({ id }) => ids.includes(id));
    })
    .toEqual([]);

describe('attached files', () => {
  test('arrive with their names and bytes, and their rows go with the last mail that is sent', async ({
    service,
    admin,
    ann,
  }) => {
    const ids = await mailFiles(service, ann, [CSV, LARGE], ['first@example.com', 'second@example.com']);
    expect(await rowsOf(service, ids)).toBe(2);
    const server = await openMailServer();
    server.judge = async ({ to }) => {
      if (to[0] === 'second@example.com')
        await waitForMail(service, await mailTo(service, 'first@example.com'), { status: 'sent' });
    };
    startDelivery(service, server.url);
    for (const to of ['first@example.com', 'second@example.com'])
      await waitForMail(service, await mailTo(service, to), { status: 'sent', attempts: 1, error: null });
    expect(server.received.map(({ to }) => to[0])).toEqual(['first@example.com', 'second@example.com']);
    for (const { text, attachments } of server.received) {
      expect(text.trim()).toBe('See');
      expect(attachments.map(({ filename, contentType }) => [filename, contentType])).toEqual([
        [CSV.filename, 'text/csv'],
        [LARGE.filename, 'application/octet-stream'],
      ]);
      expect(attachments.map(({ bytes }, i) => bytes.equals([CSV, LARGE][i]!.bytes))).toEqual([true, true]);
    }
    expect(await rowsOf(service, ids)).toBe(0);
    // The outbox still describes them.
    const described = [
      { filename: CSV.filename, contentType: 'text/csv', size: CSV.bytes.length },
      { filename: LARGE.filename, contentType: 'message/rfc822', size: LARGE.bytes.length },
    ];
    await expectBody(admin.get('/outbox?q=first@example.com'), 200, {
      _embedded: { 'svc:mail': [{ userId: null, attachments: described }] },
    });
    const { outbox } = await admin.data(
      `{ outbox(q: "first@") { items { attachments { filename contentType size } } } }`,
    );
    expect(outbox.items).toEqual([{ attachments: described }]);

    // Their bytes go with the next sweep.
    for (const id of ids) expect(await service.platform.files.read(id)).toBeDefined();
    await expectGone(service, ids);
  });

  test('stay while a mail that waits has them, and go with the mail after a month', async ({ service, ann }) => {
    const [id] = await mailFiles(service, ann, [CSV], ['waits@example.com', 'waits-too@example.com']);
    const age = (to: string) =>
      systemQuery(service, `update dws.mail set created_at = now() - interval '31 days' where recipient = $1`, to);
    await age('waits@example.com');
    await expect.poll(() => sweep(service, 'waits@example.com')).toEqual([]);
    await sweep(service);
    expect(await service.platform.files.read(id!)).toEqual(CSV.bytes);
    await age('waits-too@example.com');
    await expect.poll(() => sweep(service, 'waits-too@example.com')).toEqual([]);
    expect(await rowsOf(service, [id!])).toBe(0);
    await expectGone(service, [id!]);
  });

  test('are sent again in full after a failed attempt, and kept until the last one', async ({ service, ann }) => {
    const server = await openMailServer();
    const received: Buffer[] = [];
    server.judge = ({ attachments }) => {
      received.push(attachments[0]!.bytes);
      if (received.length === 1) throw Object.assign(new Error('Later'), { responseCode: 451 });
    };
    const [id] = await mailFiles(service, ann, [LARGE], ['again@example.com']);
    startDelivery(service, server.url);
    await waitForMail(service, await mailTo(service, 'again@example.com'), { status: 'sent', attempts: 2 });
    expect(received.map((bytes) => bytes.equals(LARGE.bytes))).toEqual([true, true]);
    expect(await rowsOf(service, [id!])).toBe(0);
  });

  test('that are missing on the disk fail the mail, and no part of it arrives', async ({ service, ann }) => {
    const server = await openMailServer();
    const [, missing] = await mailFiles(service, ann, [LARGE, CSV], ['missing@example.com']);
    await rm(service.platform.files.path(missing!));
    startDelivery(service, server.url);
    const id = await mailTo(service, 'missing@example.com');
    await waitForMail(service, id, { status: 'failed', attempts: 4, error: 'An attached file is missing' });
    expect(server.received).toEqual([]);
    expect(await rowsOf(service, [missing!])).toBe(0);
  });

  test('lengthen the time of an attempt before its sender counts as dead', async ({ service, ann }) => {
    await mailFiles(service, ann, [LARGE], ['slow@example.com']);
    await mailFiles(service, ann, [], ['short@example.com']);
    const [slow, short] = [await mailTo(service, 'slow@example.com'), await mailTo(service, 'short@example.com')];
    const claim = (id: string, age: string) =>
      systemQuery(
        service,
        `update dws.mail set claimed_at = now() - $2::interval, attempts = 1 where id = $1`,
        id,
        age,
      );
    await Promise.all([slow, short].map((id) => claim(id, '100 seconds')));
    const server = await openMailServer();
    startDelivery(service, server.url);
    // An attempt has 60 seconds, and one more for each 50 kB.
    await waitForMail(service, short, { status: 'failed' });
    expect(await findMail(service, slow)).toMatchObject({ status: 'queued' });
    await claim(slow, '130 seconds');
    await waitForMail(service, slow, { status: 'failed', error: expect.stringMatching(/sending process ended/) });
  });

  test('go with the last mail, even if two mails are sent at the same time', async ({ service, ann }) => {
    const [id] = await mailFiles(service, ann, [CSV], ['both-1@example.com', 'both-2@example.com']);
    const send = (query: Query, to: string) =>
      query({ text: `update dws.mail set status = 'sent' where recipient = $1`, values: [to] });
    const { system } = service.platform;
    let second: Promise<unknown> | undefined;
    await system.transaction(async (query) => {
      await send(query, 'both-1@example.com');
      second = system.transaction((other) => send(other, 'both-2@example.com'));
      // The second waits for the first, or else has ended before it.
      await Promise.race([second, vi.waitFor(async () => expect(await waiting(service)).toBe(1), { timeout: 60_000 })]);
    });
    await second;
    expect(await rowsOf(service, [id!])).toBe(0);
  });

  test('are stored once for all recipients', async ({ service, ann }) => {
    const to = Array.from({ length: 120 }, (_, n) => `r${n}@example.com`);
    const [id] = await mailFiles(service, ann, [CSV], to);
    const [found] = await systemQuery(
      service,
      `select count(*)::int as mails, count(distinct file_id)::int as files from dws.mail_attachment where file_id = $1`,
      id,
    );
    expect(found).toEqual({ mails: 120, files: 1 });
  });
});

test('a source causes its mails once, of two transactions at the same time too', async ({ service, ann }) => {
  const { platform } = service;
  const tenantId = await tenantIdOf(service, ann);
  const content = { tenantId, source: 'test:once', senderId: ann.id, subject: 'Once', text: 'x' };
  const attempt = () =>
    platform.database.transaction(tenantId, async (tx) => {
      if (await hasQueuedMails(tx, [content.source])) return false;
      await queueMails(platform, tx, content, [{ userId: null, to: 'once@example.com', attachments: [] }]);
      return true;
    });
  const outcomes = await Promise.all([attempt(), attempt(), attempt()]);
  expect(outcomes.filter(Boolean)).toHaveLength(1);
  expect(await attempt()).toBe(false);
  expect(await systemQuery(service, `select id from dws.mail where recipient = 'once@example.com'`)).toHaveLength(1);
});
