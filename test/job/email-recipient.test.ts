import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { readBack } from '../support/export-readers.ts';
import { openMailServer, startDelivery } from '../support/mail-delivery.ts';
import type { MailServer } from '../support/mail-server.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { attempt, ownerOf } from './driver-fixture.ts';
import { addAction, addEmail, giveAddresses, runJob } from './email-fixture.ts';
import { createJob, test as base, type TestJob } from './job-fixture.ts';

/** Six rows of two zones, with one word of each zone in every field. */
const QUERY = `
  select n as rank, z as zone, 'qzx' || z || 'open' || n as open, 'qzx' || z || 'shut' || n as shut
  from generate_series(1, 6) n, lateral (select (array['even', 'odd'])[1 + n % 2] as z) zones`;

interface ZonesDataset {
  id: string;
  path: string;
  /** Ids of the filters of the zones. */
  filters: Record<'even' | 'odd', string>;
}

interface People {
  /** Sees the even rows without `shut`. */
  bob: Client;
  /** Sees all fields of the odd rows. */
  cleo: Client;
  /** Sees nothing. */
  dan: Client;
}

const test = base.extend<{ zones: ZonesDataset; people: People }>({
  zones: [
    async ({ ann, source }, use) => {
      const input = { name: 'Zones', datasourceId: source.id, query: QUERY, refresh: true, fieldSecurityEnabled: true };
      const { id } = await ann.creates('/datasets', input);
      const path = `/datasets/${id}`;
      const filter = async (zone: string): Promise<string> =>
        (await ann.creates(`${path}/filters`, { name: zone, criteria: { zone } })).id;
      await use({ id, path, filters: { even: await filter('even'), odd: await filter('odd') } });
    },
    { scope: 'file' },
  ],
  people: [
    async ({ service, ann, bob }, use) => {
      const [cleo, dan] = [await service.user('cleo'), await service.user('dan')];
      await giveAddresses(ann, bob, cleo, dan);
      await use({ bob, cleo, dan });
    },
    { scope: 'file' },
  ],
});

const share = (ann: Client, { path }: ZonesDataset, user: Client, input: object) =>
  expectStatus(ann.put(`${path}/shares/${user.id}`, { accessLevel: 1, restrictFields: false, ...input }), 200);

/** Shares the even rows without `shut` with bob, and the odd rows with cleo. */
async function shareZones(ann: Client, zones: ZonesDataset, { bob, cleo }: People): Promise<void> {
  const visibleFields = ['rank', 'zone', 'open'];
  await share(ann, zones, bob, { datasetFilterId: zones.filters.even, restrictFields: true, visibleFields });
  await share(ann, zones, cleo, { datasetFilterId: zones.filters.odd });
}

/** Creates a job that mails each recipient their own rows of the dataset, in these formats. */
async function createMailJob(
  ann: Client,
  zones: ZonesDataset,
  recipients: string[],
  formats: string[],
  filter?: object,
): Promise<TestJob> {
  const job = await createJob(ann, { datasets: { zones: zones.id } });
  const attach: string[] = [];
  for (const format of formats)
    attach.push(await addAction(ann, job, 'export', { alias: 'zones', format, filter }, `Rows as ${format}`));
  await addEmail(ann, job, { recipients, attach, runAs: 'recipient' });
  return job;
}

/** Returns a server with the mails that are queued now, by the name of the recipient. */
async function deliver(service: Service): Promise<Map<string, MailServer['received'][number]>> {
  const server = await openMailServer();
  const delivery = startDelivery(service, server.url);
  await expect.poll(() => systemQuery(service, `select status from dws.mail where status = 'queued'`)).toEqual([]);
  await delivery.stop();
  return new Map(server.received.map((mail) => [mail.to[0]!.replace('@example.com', ''), mail]));
}

/** Returns all that a mail contains: as it was received, the decoded files, and those within ZIP archives. */
function contentsOf({ raw, text, html = '', attachments }: MailServer['received'][number]): string {
  const files = attachments.flatMap(({ filename, bytes }) => [filename, bytes.toString('latin1'), ...unzip(bytes)]);
  return [raw, text, html, ...files].join('\n');
}

/** Inflates all entries of a ZIP archive, found by their local headers. */
function unzip(bytes: Buffer): string[] {
  const entries: string[] = [];
  for (let at = bytes.indexOf('PK\x03\x04'); at >= 0; at = bytes.indexOf('PK\x03\x04', at + 4)) {
    const start = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
    entries.push(inflateRawSync(bytes.subarray(start), { finishFlush: 2 }).toString());
  }
  return entries;
}

test('each recipient gets the rows and fields that they may see, in every format, and no trace of others', async ({
  service,
  admin,
  ann,
  zones,
  people,
}) => {
  await shareZones(ann, zones, people);
  const team = await createTeam(admin, 'Readers', people.bob, people.dan);
  const formats = ['csv', 'json', 'ndjson', 'xlsx', 'parquet'] as const;
  const job = await createMailJob(ann, zones, [`team:${team}`, 'bob', 'cleo', 'ann'], [...formats]);
  const { success, log } = await runJob(ann, job);
  expect(success).toBe(true);
  // dan may not read the dataset, and the admin has no address.
  expect(log).toBe(
    'Mails queued: 3\nLeft out, as they have no e-mail address: 1\nLeft out, as they may not read the data: 1\n',
  );
  // The formats of three recipients, in addition to the formats of the owner.
  const files = () => systemQuery(service, `select id from dws.stored_file`);
  expect(await files()).toHaveLength(5 * 3 + 5);

  const mails = await deliver(service);
  expect([...mails.keys()].toSorted()).toEqual(['ann', 'bob', 'cleo']);
  const { fields } = (await ann.get(zones.path)).body as { fields: { name: string; type: 'string' }[] };
  const rowsOf = (zone: string, ...names: string[]) =>
    [1, 2, 3, 4, 5, 6]
      .map((rank): Record<string, unknown> => {
        const own = rank % 2 ? 'odd' : 'even';
        return { rank, zone: own, open: `qzx${own}open${rank}`, shut: `qzx${own}shut${rank}` };
      })
      .filter((row) => zone === 'all' || row['zone'] === zone)
      .map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
  const all = ['rank', 'zone', 'open', 'shut'];
  const expected = {
    ann: rowsOf('all', ...all),
    bob: rowsOf('even', 'rank', 'zone', 'open'),
    cleo: rowsOf('odd', ...all),
  };
  for (const [name, rows] of Object.entries(expected)) {
    const { attachments } = mails.get(name)!;
    expect(attachments.map(({ filename }) => filename)).toEqual(formats.map((format) => `zones.${format}`));
    const seen = fields.filter((field) => field.name in rows[0]!);
    for (const [i, format] of formats.entries()) {
      const file = await readBack(format, attachments[i]!.bytes, seen);
      expect([name, format, file.names]).toEqual([name, format, seen.map((field) => field.name)]);
      expect([name, format, file.rows]).toEqual([name, format, rows]);
    }
  }
  const [bobs, cleos] = [contentsOf(mails.get('bob')!), contentsOf(mails.get('cleo')!)];
  expect(bobs).toMatch(/qzxevenopen2/);
  expect(cleos).toMatch(/qzxoddshut1/);
  expect(bobs).not.toMatch(/odd|shut/);
  expect(cleos).not.toMatch(/even/);
  // Neither rows nor fields are anywhere else.
  const stored = await systemQuery<{ text: string }>(
    service,
    `select concat_ws(' ', (select jsonb_agg(to_jsonb(m)) from dws.mail m),
      (select jsonb_agg(to_jsonb(r)) from dws.job_run r), (select jsonb_agg(to_jsonb(a)) from dws.activity a)) as text`,
  );
  expect(stored[0]!.text).not.toMatch(/qzx/);
  expect(JSON.stringify((await admin.get('/outbox')).body)).not.toMatch(/qzx/);
  // Files that were written for the mails are gone; the exports of the owner stay.
  expect(await files()).toHaveLength(5);
});

test('a recipient whose share ends, or who is disabled, gets no further mail', async ({
  service,
  admin,
  ann,
  zones,
  people,
}) => {
  await shareZones(ann, zones, people);
  const job = await createMailJob(ann, zones, ['bob', 'cleo'], ['csv']);
  expect((await runJob(ann, job)).log).toBe('Mails queued: 2\n');
  expect([...(await deliver(service)).keys()].toSorted()).toEqual(['bob', 'cleo']);
  await expectStatus(ann.delete(`${zones.path}/shares/${people.bob.id}`), 204);
  expect(await runJob(ann, job)).toMatchObject({
    success: true,
    log: 'Mails queued: 1\nLeft out, as they may not read the data: 1\n',
  });
  expect([...(await deliver(service)).keys()]).toEqual(['cleo']);
  await expectStatus(admin.put('/users/cleo', { enabled: false }), 200);
  expect((await runJob(ann, job)).log).toBe(
    'Mails queued: 0\nLeft out, as they are disabled: 1\nLeft out, as they may not read the data: 1\n',
  );
  expect((await deliver(service)).size).toBe(0);
  await expectStatus(admin.put('/users/cleo', { enabled: true }), 200);
});

const UNREADABLE = 'The recipient may no longer read the attached rows';
const AGAIN = { datasetFilterId: null, restrictFields: false };
const changesWhileWaiting: [
  what: string,
  change: (ann: Client, zones: ZonesDataset, bob: Client) => Promise<unknown>,
  error: string | null,
][] = [
  ['loses the share', (ann, { path }, { id }) => ann.delete(`${path}/shares/${id}`), UNREADABLE],
  [
    'sees fewer fields',
    (ann, zones, bob) =>
      share(ann, zones, bob, { datasetFilterId: zones.filters.even, restrictFields: true, visibleFields: ['rank'] }),
    UNREADABLE,
  ],
  ['sees other rows', (ann, zones, bob) => share(ann, zones, bob, { datasetFilterId: zones.filters.odd }), UNREADABLE],
  ['sees all rows', (ann, zones, bob) => share(ann, zones, bob, AGAIN), null],
  ['keeps the share', () => Promise.resolve(), null],
];
test.for(changesWhileWaiting)(
  'a mail that waits is sent only with rows that the recipient sees, who %s',
  async ([, change, error], { service, admin, ann, zones, people }) => {
    await shareZones(ann, zones, people);
    const job = await createMailJob(ann, zones, ['bob', 'cleo'], ['csv']);
    expect((await runJob(ann, job)).log).toBe('Mails queued: 2\n');
    await change(ann, zones, people.bob);
    expect([...(await deliver(service)).keys()].toSorted()).toEqual(error ? ['cleo'] : ['bob', 'cleo']);
    const [mail] = (await admin.get('/outbox?q=bob@example.com')).body._embedded['svc:mail'];
    expect(mail).toMatchObject({ status: error ? 'failed' : 'sent', attempts: error ? 0 : 1, error });
    expect(await systemQuery(service, `select file_id from dws.mail_attachment`)).toEqual([]);
  },
);

test('equal files of several recipients are stored once', async ({ service, ann, zones, people }) => {
  await share(ann, zones, people.bob, { datasetFilterId: zones.filters.odd });
  await share(ann, zones, people.cleo, { datasetFilterId: zones.filters.odd });
  const job = await createMailJob(ann, zones, ['bob', 'cleo', 'ann'], ['csv']);
  await runJob(ann, job);
  const sizes = await systemQuery(
    service,
    `select count(*)::int as mails from dws.mail_attachment group by file_id order by 1`,
  );
  expect(sizes).toEqual([{ mails: 1 }, { mails: 2 }]);
  expect((await deliver(service)).size).toBe(3);
});

test('a filter on a field that is hidden from a recipient leaves them out, and fails if none is left', async ({
  service,
  ann,
  zones,
  people,
}) => {
  await shareZones(ann, zones, people);
  const filter = { shut: { $ne: 'x' } };
  const job = await createMailJob(ann, zones, ['bob', 'cleo'], ['csv'], filter);
  expect((await runJob(ann, job)).log).toBe(
    'Mails queued: 1\nLeft out, as they do not see the fields of the export: 1\n',
  );
  expect([...(await deliver(service)).keys()]).toEqual(['cleo']);
  const alone = await createMailJob(ann, zones, ['bob'], ['csv'], filter);
  expect(await runJob(ann, alone)).toMatchObject({
    success: false,
    error: 'An attached export has a filter or format that does not fit the fields that the recipients see',
  });
});

test('an attempt that is cancelled queues nothing, and leaves no files', async ({ service, ann, zones, people }) => {
  await shareZones(ann, zones, people);
  const job = await createMailJob(ann, zones, ['bob', 'cleo'], ['csv']);
  const { body } = await ann.get(`${job.path}/actions`);
  const email = body._embedded['svc:job-action'].at(-1);
  const action = { type: 'email', job: { ...job, name: 'Nightly' }, action: { ...email, path: '' }, data: email.data };
  const files = async () => (await service.platform.files.list()).length;
  const before = await files();
  const aborter = new AbortController();
  let during = 0;
  const attempted = attempt(service, ownerOf(ann), action, {
    signal: aborter.signal,
    // After the export of the first recipient.
    onProgress: () => {
      during = readdirSync(dirname(service.platform.files.path(newId()))).length;
      aborter.abort(new Error('Cancelled'));
    },
  });
  await expect(attempted).rejects.toThrow('Cancelled');
  expect([during, await files()]).toEqual([before + 1, before]);
  expect(await systemQuery(service, `select id from dws.mail where status = 'queued'`)).toEqual([]);
});

test('whether attached actions are exports is checked again at the run', async ({ service, ann, zones, people: _ }) => {
  const job = await createMailJob(ann, zones, ['bob'], ['csv']);
  await systemQuery(
    service,
    `update dws.job_action set type = 'notify', data = '{"recipients": [], "message": "x"}'
      where job_id = $1 and type = 'export'`,
    job.id,
  );
  expect(await runJob(ann, job)).toMatchObject({
    success: false,
    error: 'The action "Rows as csv" is not an export, so not every recipient has a file of their own',
  });
});
