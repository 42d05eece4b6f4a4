import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { openMailServer, startDelivery } from '../support/mail-delivery.ts';
import type { MailServer } from '../support/mail-server.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { attempt, ownerOf } from './driver-fixture.ts';
import { addAction, addEmail, giveAddresses, putFile, readLastRun, runJob } from './email-fixture.ts';
import { createJob, createNotify, test as base } from './job-fixture.ts';

const test = base.extend<{ people: { team: string } }>({
  people: [
    async ({ service, admin, ann, bob }, use) => {
      const [cleo, dan] = [await service.user('cleo'), await service.user('dan')];
      await giveAddresses(ann, bob, cleo);
      await expectStatus(admin.put('/users/cleo', { enabled: false }), 200);
      await use({ team: await createTeam(admin, 'Sales', bob, cleo, dan) });
    },
    { scope: 'file' },
  ],
});

const CSV = { content: 'a,b\n1,"x"\n', filename: 'figures.csv', type: 'text/csv' };

/** Sends what is queued, and returns a server that has received it. */
async function deliver(service: Service, count: number): Promise<MailServer> {
  const server = await openMailServer();
  startDelivery(service, server.url);
  await expect.poll(() => server.received.length).toBe(count);
  await expect.poll(() => systemQuery(service, `select id from dws.mail where status = 'queued'`)).toEqual([]);
  return server;
}

const storedFiles = async (service: Service): Promise<number> =>
  (await systemQuery(service, `select id from dws.stored_file`)).length;

describe('an email', () => {
  test('reaches each person once, with the files of other actions', async ({ service, admin, ann, bob, people }) => {
    const job = await createJob(ann);
    const [first, second] = [await createNotify(ann, job, 'First'), await createNotify(ann, job, 'Second')];
    await putFile(ann, job, first, CSV);
    await putFile(ann, job, second, { content: '<p>', filename: 'page.html', type: 'text/html' });
    await addEmail(ann, job, {
      recipients: [
        'ann',
        `team:${people.team}`,
        `user:${bob.id}`,
        'bob',
        'Out@Example.com',
        'out@example.com',
        'BOB@example.com',
      ],
      attach: [second, first],
    });
    const { success, log } = await runJob(ann, job);
    expect(success).toBe(true);
    // The admin, who created the team, has no address either.
    expect(log).toBe(
      'Mails queued: 3\nLeft out, as they are disabled: 1\nLeft out, as they have no e-mail address: 2\n',
    );
    expect(await storedFiles(service)).toBe(2);
    const { received } = await deliver(service, 3);
    expect(received.map(({ to }) => to).toSorted()).toEqual([
      ['Out@example.com'],
      ['ann@example.com'],
      ['bob@example.com'],
    ]);
    for (const { headers, text, attachments } of received) {
      expect([headers.get('subject'), text.trim()]).toEqual(['Figures', 'The figures are attached.']);
      expect(attachments).toEqual([
        { filename: 'page.html', contentType: 'text/html', bytes: Buffer.from('<p>') },
        { filename: 'figures.csv', contentType: 'text/csv', bytes: Buffer.from(CSV.content) },
      ]);
    }
    // The actions still have their files.
    expect(await storedFiles(service)).toBe(2);
    const { body } = await admin.get('/outbox?q=out@example.com');
    expect(body._embedded['svc:mail']).toMatchObject([
      { userId: null, to: 'Out@Example.com', status: 'sent', attachments: [{ filename: 'page.html' }, { size: 10 }] },
    ]);
    await expectStatus(ann.delete(job.path), 204);
    expect(await storedFiles(service)).toBe(0);
  });

  test('has the files of its moment: one that is replaced later stays for the mails that wait', async ({
    service,
    ann,
    people: _,
  }) => {
    const job = await createJob(ann);
    const source = await createNotify(ann, job, 'Source');
    await putFile(ann, job, source, CSV);
    await addEmail(ann, job, { recipients: ['moment@example.com'], attach: [source] });
    await runJob(ann, job);
    await putFile(ann, job, source, { ...CSV, content: 'new' });
    expect(await storedFiles(service)).toBe(2);
    await expectStatus(ann.delete(job.path), 204);
    expect(await storedFiles(service)).toBe(1);
    const { received } = await deliver(service, 1);
    expect(received[0]!.attachments.map(({ bytes }) => bytes.toString())).toEqual([CSV.content]);
    expect(await storedFiles(service)).toBe(0);
  });

  test('in HTML has a text for programs that show none', async ({ service, ann, people: _ }) => {
    const body =
      '<style>p{}</style><p>Hello &amp; <b>welcome</b></p><ul><li>One</li></ul><a href="https://x.example/a?b&amp;c">More</a>';
    const job = await createJob(ann);
    await addEmail(ann, job, { recipients: ['html@example.com'], body, format: 'html' });
    expect((await runJob(ann, job)).success).toBe(true);
    const { received } = await deliver(service, 1);
    expect(received[0]!.html!.trim()).toBe(body);
    expect(received[0]!.text.trim()).toBe('Hello & welcome\n\n * One\n\nMore (https://x.example/a?b&c)');
  });

  test('fails without a file of an attached action, which it names, and with too many bytes', async ({
    service,
    ann,
    people: _,
  }) => {
    const job = await createJob(ann);
    const [one, two] = [await createNotify(ann, job, 'One'), await createNotify(ann, job, 'Two')];
    const big = Buffer.alloc(11_000_000);
    await putFile(ann, job, one, { content: big, filename: 'one', type: 'application/x-a' });
    await addEmail(ann, job, { recipients: ['none@example.com'], attach: [one, two] });
    expect(await runJob(ann, job)).toMatchObject({ success: false, error: 'The action "Two" has no file to attach' });
    await putFile(ann, job, two, { content: big, filename: 'two', type: 'application/x-a' });
    expect(await runJob(ann, job)).toMatchObject({
      success: false,
      error: 'The attachments of a mail have more than 20000000 bytes in total',
    });
    expect(await systemQuery(service, `select id from dws.mail where recipient = 'none@example.com'`)).toEqual([]);
    await expectStatus(ann.delete(job.path), 204);
  });

  test('is not sent again if its worker dies after the mails were queued', async ({ service, ann, people: _ }) => {
    const job = await createJob(ann);
    const email = await addEmail(ann, job, { recipients: ['again@example.com'] });
    const { runId } = await runJob(ann, job);
    const mails = () => systemQuery(service, `select id from dws.mail where recipient = 'again@example.com'`);
    expect(await mails()).toHaveLength(1);
    // As the run is recorded after the death of its worker.
    await systemQuery(
      service,
      `update dws.job_run set status = 'failed', success = false, history = '[]' where id = $1`,
      runId,
    );
    await expectStatus(ann.post(`${job.path}/history/${runId}/_retry`, {}), 200);
    const continued = await readLastRun(ann, job);
    expect(continued).toMatchObject({ success: true, log: 'An earlier attempt has queued the mails\n' });
    expect(continued.runId).not.toBe(runId);
    expect(await mails()).toHaveLength(1);
    // A second attempt in the same run.
    const { data } = (await ann.get(`${job.path}/actions/${email}`)).body;
    const action = {
      type: 'email',
      job: { ...job, name: 'Nightly' },
      action: { id: email, name: 'email', path: '' },
      data,
    };
    expect(await attempt(service, ownerOf(ann), action, { runId: continued.runId })).toEqual([
      'An earlier attempt has queued the mails',
    ]);
    expect(await mails()).toHaveLength(1);
    // A run that starts anew sends anew.
    await runJob(ann, job);
    expect(await mails()).toHaveLength(2);
  });

  test('of an attempt that was cancelled is not queued', async ({ service, ann, people: _ }) => {
    const job = await createJob(ann);
    const email = await addEmail(ann, job, { recipients: ['cancelled@example.com'] });
    const { data } = (await ann.get(`${job.path}/actions/${email}`)).body;
    const action = {
      type: 'email',
      job: { ...job, name: 'Nightly' },
      action: { id: email, name: 'email', path: '' },
      data,
    };
    const attempted = attempt(service, ownerOf(ann), action, { signal: AbortSignal.abort(new Error('Cancelled')) });
    await expect(attempted).rejects.toThrow('Cancelled');
    expect(await systemQuery(service, `select id from dws.mail where recipient = 'cancelled@example.com'`)).toEqual([]);
  });

  test('with an invalid recipient, subject or attachment is 400 or 404, in both APIs', async ({
    ann,
    orders,
    people,
  }) => {
    const job = await createJob(ann);
    const other = await createNotify(ann, job, 'Other');
    const data = { recipients: ['ann'], subject: 'A', body: 'B' };
    const create = (more: object) =>
      ann.post(`${job.path}/actions`, { type: 'email', name: 'Mail', data: { ...data, ...more } });
    await expectInvalid(create({ subject: 'A\r\nBcc: x@example.com' }), 'data.subject', /must match pattern/);
    const address = { recipients: [`team:${people.team}`, 'A <a@example.com>'], runAs: 'recipient' };
    const message = 'data.recipients.1 must be a user or a team: an address has no access to data';
    await expectInvalid(create(address), 'data.recipients.1', message);
    const { errors } = await ann.gql(
      `mutation ($job: ID!, $data: JSONObject!) {
        createJobAction(jobId: $job, input: { type: "email", name: "Mail", data: $data }) { id }
      }`,
      { job: job.id, data: { ...data, ...address } },
    );
    expect(errors?.map((error: { message: string }) => error.message)).toEqual([message]);
    await expectInvalid(create({ attach: [other], runAs: 'recipient' }), 'data.attach.0', /must be an export/);
    await expectError(create({ attach: [UNKNOWN_ID] }), 404, `There is no job action ${UNKNOWN_ID}`);
    await expectError(create({ recipients: ['nobody'] }), 404, 'There is no user nobody');
    const rows = await addAction(ann, job, 'export', { datasetId: orders.id, format: 'csv' });
    const id = await addEmail(ann, job, {
      attach: [rows, rows.toUpperCase()],
      recipients: ['ann', 'ann'],
      runAs: 'recipient',
    });
    await expectBody(ann.get(`${job.path}/actions/${id}`), 200, {
      data: { attach: [rows], recipients: [`user:${ann.id}`] },
    });
  });

  test('with an export is not sent to further recipients by those who may not read the export', async ({
    ann,
    bob,
    orders,
    restrictBob,
    people: _,
  }) => {
    const job = await createJob(ann);
    await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);
    await restrictBob({ region: 'EU' });
    const rows = await addAction(ann, job, 'export', { datasetId: orders.id, format: 'csv' });
    const data = { recipients: [`user:${ann.id}`], subject: 'A', body: 'B', attach: [rows] };
    const refusal = /rows of a dataset that you may not read in full/;
    await expectError(bob.post(`${job.path}/actions`, { type: 'email', name: 'Mail', data }), 403, refusal);
    const path = `${job.path}/actions/${await addEmail(ann, job, data)}`;
    const more = [...data.recipients, `user:${bob.id}`];
    await expectError(bob.put(path, { data: { ...data, recipients: more } }), 403, refusal);
    await expectStatus(bob.put(path, { data: { ...data, subject: 'Other' } }), 200);
    await expectStatus(bob.put(path, { data: { ...data, recipients: more, runAs: 'recipient' } }), 200);
    await expectError(bob.put(path, { data: { ...data, recipients: more } }), 403, refusal);
    await expectStatus(ann.put(path, { data: { ...data, recipients: more } }), 200);
  });

  test('sends no other rows of an export after a change by those who may not read them', async ({
    ann,
    bob,
    orders,
    restrictBob,
    people: _,
  }) => {
    const open = await ann.creates('/datasets', {
      name: 'Open',
      query: 'select 1 as one',
      ...(await sourceOf(ann, orders)),
    });
    await expectStatus(ann.put(`/datasets/${open.id}/shares/bob`, { accessLevel: 1 }), 200);
    await restrictBob({ region: 'EU' });
    const job = await createJob(ann, { datasets: { rows: open.id } });
    await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);
    const byAlias = await addAction(ann, job, 'export', { alias: 'rows', format: 'csv' });
    const byId = await addAction(ann, job, 'export', { datasetId: open.id, format: 'csv' });
    const email = await addEmail(bob, job, { recipients: ['bob'], attach: [byAlias, byId] });
    const refusal = /rows of a dataset that you may not read in full/;
    const attempts = () => [
      bob.put(`${job.path}/datasets/rows`, { datasetId: orders.id }),
      bob.put(`${job.path}/actions/${byId}`, { data: { datasetId: orders.id, format: 'csv' } }),
    ];
    for (const attempted of attempts()) await expectError(attempted, 403, refusal);
    await expectStatus(bob.put(`${job.path}/actions/${byId}`, { data: { datasetId: open.id, format: 'json' } }), 200);
    // Each recipient gets their own rows.
    const data = { recipients: ['bob'], subject: 'A', body: 'B', attach: [byAlias, byId], runAs: 'recipient' };
    await expectStatus(bob.put(`${job.path}/actions/${email}`, { data }), 200);
    for (const attempted of attempts()) await expectStatus(attempted, 200);
  });
});

/** Returns the datasource of a dataset. */
const sourceOf = async (client: Client, { path }: { path: string }): Promise<{ datasourceId: string }> => ({
  datasourceId: (await client.get(path)).body.datasourceId,
});
