import { describe, expect } from 'vitest';
import { startListener } from '../outbound/listener.ts';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createJob, type TestJob } from './job-fixture.ts';
import { test, urlOf, verify } from './webhook-fixture.ts';

/** Adds a webhook to a job. Returns its id. */
const addWebhook = async (client: Client, { path }: TestJob, data: object): Promise<string> =>
  (await client.creates(`${path}/actions`, { type: 'webhook', name: 'Call', data })).id;

/** Runs a job and returns the record of the run in its history. */
async function runOf(client: Client, { path }: TestJob) {
  expect(await client.post(path, {})).toMatchObject({ status: 200 });
  const { body } = await client.get(`${path}/history?limit=1`);
  return body._embedded['svc:job-history'][0];
}

describe('a webhook in a run', () => {
  test('is repeated as its action says, with the same delivery and a valid signature each time', async ({
    ann,
    receiver,
  }) => {
    const job = await createJob(ann);
    const data = { url: urlOf(receiver), secret: 'hush-hush', retry: { times: 2, delay: 0 } };
    const id = await addWebhook(ann, job, data);
    receiver.respond = (_request, response) =>
      void response.writeHead(receiver.requests.length < 3 ? 500 : 200).end('not yet');
    const run = await runOf(ann, job);
    expect(run).toMatchObject({ success: true, history: [{ result: { success: true, attempts: 3 } }] });
    expect(receiver.requests.map(({ headers }) => headers['x-dws-delivery'])).toEqual(
      Array.from({ length: 3 }, () => `${run.id}.${id}`),
    );
    expect(receiver.requests.every((request) => verify('hush-hush', request))).toBe(true);
    expect(JSON.parse(receiver.requests[0]!.body)).toMatchObject({
      job: { id: job.id, name: 'Nightly' },
      run: { id: run.id },
      action: { id, name: 'Call' },
    });

    // Another run is another delivery.
    const next = await runOf(ann, job);
    expect(receiver.requests[3]!.headers['x-dws-delivery']).toBe(`${next.id}.${id}`);
  });

  test('ends with the timeout of its action', async ({ ann, receiver }) => {
    const job = await createJob(ann);
    await addWebhook(ann, job, { url: urlOf(receiver), timeout: 1000 });
    receiver.respond = () => undefined;
    const run = await runOf(ann, job);
    expect(run).toMatchObject({ success: false, history: [{ result: { success: false, attempts: 1 } }] });
    expect(run.error).toBe('Call: It took longer than 1000 ms');
  });

  test('to a private address fails the action with the name of the host, and nothing is sent', async ({ ann }) => {
    const forbidden = await startListener('127.0.0.2');
    const job = await createJob(ann);
    await addWebhook(ann, job, { url: `http://127.0.0.2:${forbidden.port}/` });
    const run = await runOf(ann, job);
    const message =
      'Outgoing calls over http: to the host "127.0.0.2" are not allowed: OUTBOUND_ALLOW does not name it';
    expect(run).toMatchObject({ status: 'failed', error: `Call: ${message}` });
    expect(run.history[0].result).toMatchObject({ success: false, error: message });
    expect(forbidden.connections).toBe(0);
    await forbidden.close();
  });

  test('is cancelled with the run', async ({ ann, receiver }) => {
    const job = await createJob(ann);
    await addWebhook(ann, job, { url: urlOf(receiver) });
    const isClosed = new Promise<void>((resolve) => {
      receiver.respond = (request) => void request.socket.once('close', resolve);
    });
    const { body } = await ann.post(job.path, {}, { prefer: 'respond-async' });
    expect(body.status).toMatch(/queued|running/);
    await expect.poll(() => receiver.requests.length).toBe(1);
    const { body: history } = await ann.get(`${job.path}/history`);
    const [run] = history._embedded['svc:job-history'];
    await ann.post(`${job.path}/history/${run.id}/_cancel`, {});
    await isClosed;
    await expect.poll(async () => (await ann.get(`${job.path}/history/${run.id}`)).body.status).toBe('cancelled');
  });
});

/** Returns the tables of a database in which a row contains one of these texts. */
async function tablesWith(service: Service, texts: readonly string[]): Promise<string[]> {
  const tables = await systemQuery<{ name: string }>(
    service,
    `select format('%I.%I', table_schema, table_name) as name
     from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  expect(tables.length).toBeGreaterThan(40);
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await systemQuery(
      service,
      `select from ${name} t where exists (select from unnest($1::text[]) s where strpos(t::text, s) > 0) limit 1`,
      texts,
    );
    if (row) found.push(name);
  }
  return found;
}

test('secrets are in no row of the database, thus in no backup, in no response and in no log', async ({
  ann,
  service,
  receiver,
  logged,
}) => {
  const secrets = ['hush-hush', 'topsecret', 'k3y-of-x'];
  const headers = { Authorization: 'Bearer topsecret', 'X-Key': 'k3y-of-x' };
  const data = { url: urlOf(receiver), secret: 'hush-hush', headers };
  const job = await createJob(ann, { name: 'Secretive' });
  const id = await addWebhook(ann, job, data);
  receiver.respond = (_request, response) => void response.writeHead(400).end(`not ${secrets.join(' or ')}`);
  const failed = await runOf(ann, job);
  expect(failed.error).toBe('Call: The host "127.0.0.1" responded with 400: not … or … or …');
  receiver.respond = (_request, response) => void response.end(String(secrets));
  expect(await runOf(ann, job)).toMatchObject({ success: true, error: null });
  expect(receiver.requests).toHaveLength(2);
  expect(receiver.requests[0]!.headers).toMatchObject({ authorization: 'Bearer topsecret', 'x-key': 'k3y-of-x' });
  await ann.creates(`${job.path}/_edit`, {});
  await expectBody(ann.put(`${job.path}/actions/${id}`, { name: 'Renamed' }), 200, {});

  const paths = ['', '/actions', '/history', '/activity'].map((part) => `${job.path}${part}`);
  const responses = await Promise.all([
    ...[...paths, `${job.path}/history/${failed.id}`, '/search?q=Secretive'].map((path) => ann.get(path)),
    ann.post(`${job.path}/actions/${id}/_preview`),
    ann.gql(`{ job(id: "${job.id}") {
      actions { data } runs { error history { result { error log } } } activity { items { message data } }
    } }`),
  ]);
  const texts = responses.map((response) => JSON.stringify(response));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect(texts.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
  expect(await tablesWith(service, secrets)).toEqual([]);
  // The search does find what is there.
  expect(await tablesWith(service, ['Secretive'])).toContain('dws.job');
  expect(logged.text).toContain('"level"');
  expect(secrets.filter((secret) => logged.text.includes(secret))).toEqual([]);
});

test('a cancelled run is charged for its time, and what it has sent counts, and nothing that it has not', async ({
  ann,
  receiver,
  service,
}) => {
  const job = await createJob(ann);
  const addMail = (subject: string) =>
    ann.creates(`${job.path}/actions`, {
      type: 'email',
      name: subject,
      data: { recipients: ['ann'], subject, body: 'Done' },
    });
  await ann.put('/me', { email: 'ann@example.com' });
  await addMail('Before');
  await addWebhook(ann, job, { url: urlOf(receiver) });
  await addMail('After');
  let release = () => {};
  const reached = new Promise<void>((resolve) => {
    receiver.respond = (_request, response) => {
      release = () => void response.end();
      resolve();
    };
  });
  const started = await ann.post(job.path, {}, { prefer: 'respond-async' });
  await reached;
  await systemQuery(
    service,
    `update dws.job_run set started_at = started_at - interval '30 seconds' where job_id = $1`,
    job.id,
  );
  await ann.delete(started.headers.get('location')!.replace('/api', ''));
  const history = async () => (await ann.get(`${job.path}/history`)).body._embedded['svc:job-history'];
  await expect.poll(async () => (await history())[0].status).toBe('cancelled');
  release();
  const [run] = await history();
  const left = async () => {
    const [mails, charged] = await Promise.all([
      systemQuery(service, `select subject from dws.mail where source like 'job:' || $1 || ':%'`, run.id),
      systemQuery<{ seconds: number; status: string }>(
        service,
        `select quantity::float8 as seconds, metadata->>'status' as status from dws.usage_event where key = 'job:' || $1`,
        run.id,
      ),
    ]);
    return { mails, charged, calls: receiver.requests.length };
  };
  const expected = {
    mails: [{ subject: 'Before' }],
    charged: [{ seconds: expect.closeTo(30, -1), status: 'cancelled' }],
    calls: 1,
  };
  expect(await left()).toEqual(expected);
  // Its continuation sends what was not sent, and only that.
  receiver.respond = (_request, response) => void response.end();
  const { body } = await ann.post(`${job.path}/history/${run.id}/_retry`, {});
  expect(body).toMatchObject({ success: true });
  const mails = await systemQuery<{ subject: string }>(
    service,
    `select subject from dws.mail where source like 'job:%' and sender_id = $1 order by created_at, id`,
    ann.id,
  );
  expect(mails.map(({ subject }) => subject)).toEqual(['Before', 'After']);
  expect(await left()).toEqual({ ...expected, calls: 2 });
});
