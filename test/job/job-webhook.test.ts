import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { ActionRun } from '../../src/core/job-drivers.ts';
import { webhookAction } from '../../src/services/job/drivers/webhook/webhook.ts';
import { startListener } from '../outbound/listener.ts';
import type { Client } from '../support/client.ts';
import { CONTRACT } from '../support/contract.ts';
import { expectInvalid, expectStatus } from '../support/expect.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { contextOf } from './driver-fixture.ts';
import { createJob } from './job-fixture.ts';
import { test as base, urlOf, verify } from './webhook-fixture.ts';

interface Attempt {
  log: string[];
  runId: string;
  actionId: string;
}

/** Saves an action of ann's job with these settings, and runs it as a run does. */
type Call = (data: object, more?: Partial<ActionRun>) => Promise<Attempt>;

/** Opens the stored secrets of an action, as a run does. */
async function openSecrets(service: Service, actionId: string): Promise<Map<string, string>> {
  const [row] = await systemQuery<{ secrets: string | null }>(
    service,
    'select secrets from dws.job_action where id = $1',
    actionId,
  );
  return new Map(row!.secrets ? JSON.parse(service.platform.secrets.open(row!.secrets, 'a test')) : []);
}

async function callAs(service: Service, ann: Client, data: object, more: Partial<ActionRun>): Promise<Attempt> {
  const { id: jobId, path } = await createJob(ann);
  const action = await ann.creates(`${path}/actions`, { type: 'webhook', name: 'Tell', data });
  const signal = more.signal ?? new AbortController().signal;
  const log: string[] = [];
  const runId = newId();
  await webhookAction.run({
    ctx: await contextOf(service, `user:${ann.id}`, signal),
    job: { id: jobId, name: 'Nightly' },
    action: { id: action.id, name: 'Tell' },
    data: action.data,
    datasetId: '',
    runId,
    secrets: await openSecrets(service, action.id),
    signal,
    log: (line) => void log.push(line),
    progress: () => undefined,
    actAs: () => Promise.reject(new Error('unused')),
    ...more,
  });
  return { log, runId, actionId: action.id };
}

const test = base.extend<{ call: Call }>({
  call: async ({ service, ann }, use) => use((data, more = {}) => callAs(service, ann, data, more)),
});

describe('a webhook', () => {
  test('sends a description of the run by default', async ({ call, receiver }) => {
    const { log, runId, actionId } = await call({ url: urlOf(receiver, '/hook?x=1') });
    const [request] = receiver.requests;
    expect(receiver.requests).toHaveLength(1);
    expect(request).toMatchObject({
      method: 'POST',
      url: '/hook?x=1',
      headers: { 'content-type': 'application/json', 'x-dws-delivery': `${runId}.${actionId}` },
    });
    expect(Object.keys(request!.headers)).not.toContain('x-dws-signature');
    const body = JSON.parse(request!.body);
    expect(body).toEqual({
      job: { id: expect.any(String), name: 'Nightly' },
      run: { id: runId },
      action: { id: actionId, name: 'Tell' },
      at: expect.any(String),
    });
    expect(new Date(body.at).toISOString()).toBe(body.at);
    expect(log).toEqual([expect.stringMatching(/^The host "127\.0\.0\.1" responded with 200 in \d+ ms$/)]);
  });

  test.for([
    ['a text as it is', 'Füße ✓', 'text/plain; charset=utf-8', 'Füße ✓'],
    ['an object as JSON', { a: ['ü', null] }, 'application/json', '{"a":["ü",null]}'],
    ['null as JSON', null, 'application/json', 'null'],
  ] as const)('sends %s', async ([, body, type, sent], { call, receiver }) => {
    await call({ url: urlOf(receiver), method: 'PUT', body });
    expect(receiver.requests).toMatchObject([{ method: 'PUT', body: sent, headers: { 'content-type': type } }]);
  });

  test('sends headers with their stored values, which replace the type of the body', async ({ call, receiver }) => {
    const headers = { Authorization: 'Bearer topsecret', 'content-TYPE': 'application/vnd.x+json' };
    await call({ url: urlOf(receiver), headers, body: '{}' });
    expect(receiver.requests).toMatchObject([
      { body: '{}', headers: { authorization: 'Bearer topsecret', 'content-type': 'application/vnd.x+json' } },
    ]);
  });

  test('by GET has no body, and the signature of an empty one', async ({ call, receiver }) => {
    await call({ url: urlOf(receiver), method: 'GET', secret: 'hush-hush' });
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'GET', body: '' });
    expect(request!.headers).not.toHaveProperty('content-type');
    expect(verify('hush-hush', request!)).toBe(true);
  });
});

describe('the signature of a webhook', () => {
  test('is valid for a receiver, and not with another key, body, time, or later', async ({ call, receiver }) => {
    await call({ url: urlOf(receiver), secret: 'hush-hush', body: { text: 'Füße' } });
    const [request] = receiver.requests;
    const { headers, body } = request!;
    expect(verify('hush-hush', { headers, body })).toBe(true);
    expect(verify('hush', { headers, body })).toBe(false);
    expect(verify('hush-hush', { headers, body: body.replace('Füße', 'Fuesse') })).toBe(false);
    const later = String(Number(headers['x-dws-timestamp']) + 1);
    expect(verify('hush-hush', { headers: { ...headers, 'x-dws-timestamp': later }, body })).toBe(false);
    expect(verify('hush-hush', { headers, body }, Date.now() / 1000 + 310)).toBe(false);
  });

  test('is the one in the worked example of the contract', () => {
    const example = /X-DWS-Timestamp: (\d+)\nX-DWS-Signature: (v1=\w+)\nX-DWS-Delivery: \S+\n\n(.*)\n```/.exec(
      CONTRACT,
    )!;
    const [, timestamp, signature, body] = example;
    const headers = { 'x-dws-timestamp': timestamp, 'x-dws-signature': signature };
    const secret = /the secret `(whsec[^`]+)`/.exec(CONTRACT)![1]!;
    expect(verify(secret, { headers, body: body! }, Number(timestamp))).toBe(true);
  });
});

test('each attempt at an action of a run has the same delivery, and a signature of its own time', async ({
  call,
  receiver,
}) => {
  const [runId, action] = [newId(), { id: newId(), name: 'Tell' }];
  const settings = { url: urlOf(receiver), secret: 'hush-hush' };
  for (const status of [500, 200]) {
    receiver.respond = (_request, response) => void response.writeHead(status).end();
    await call(settings, { runId, action }).catch(() => undefined);
  }
  await call(settings, { action });
  const deliveries = receiver.requests.map(({ headers }) => headers['x-dws-delivery']);
  expect(deliveries.slice(0, 2)).toEqual([`${runId}.${action.id}`, `${runId}.${action.id}`]);
  expect(deliveries[2]).not.toBe(deliveries[0]);
  expect(receiver.requests.map((request) => verify('hush-hush', request))).toEqual([true, true, true]);
});

describe('a failed webhook', () => {
  test.for([301, 400, 404, 500])('names the status %i and quotes the response', async (status, { call, receiver }) => {
    receiver.respond = (_request, response) =>
      void response.writeHead(status, { location: '/elsewhere' }).end(`no\n\t${'x'.repeat(400)}`);
    await expect(call({ url: urlOf(receiver) })).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      // The message of an error shortens long words further.
      message: `The host "127.0.0.1" responded with ${status}: no ${'x'.repeat(100)}…`,
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test.for([429, 502, 503, 504])('names the status %i of a host without time', async (status, { call, receiver }) => {
    receiver.respond = (_request, response) => void response.writeHead(status).end('later');
    await expect(call({ url: urlOf(receiver) })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `The host "127.0.0.1" is not available at present: it responded with ${status}`,
    });
  });

  test('names the host that does not respond', async ({ call }) => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expect(call({ url: `http://127.0.0.1:${port}/` })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The host "127.0.0.1" does not respond',
    });
  });

  test('of a response above 64 KB has its status only', async ({ call, receiver }) => {
    receiver.respond = (_request, response) => void response.writeHead(500).end('x'.repeat(70_000));
    await expect(call({ url: urlOf(receiver) })).rejects.toMatchObject({
      message: 'The host "127.0.0.1" responded with 500',
    });
    receiver.respond = (_request, response) => void response.writeHead(200).end('x'.repeat(70_000));
    await call({ url: urlOf(receiver) });
  });

  test('to a private address that is not allowed names the host, and nothing is sent', async ({ call }) => {
    const forbidden = await startListener('127.0.0.2');
    await expect(call({ url: `http://127.0.0.2:${forbidden.port}/` })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: 'Outgoing calls over http: to the host "127.0.0.2" are not allowed: OUTBOUND_ALLOW does not name it',
    });
    expect(forbidden.connections).toBe(0);
    await forbidden.close();
  });

  test('ends with its signal', async ({ call, receiver }) => {
    const controller = new AbortController();
    receiver.respond = () => controller.abort(new Error('too slow'));
    await expect(call({ url: urlOf(receiver) }, { signal: controller.signal })).rejects.toThrow('too slow');
  });

  test('repeats no secret that the host sends back, in no spelling', async ({ call, receiver }) => {
    const headers = {
      Authorization: `Basic ${Buffer.from('clara:pass/w"ort').toString('base64')}`,
      'X-Token': 'Bearer topsecret?&',
    };
    const data = { url: urlOf(receiver), headers, secret: 'hush-hush' };
    const said = [headers.Authorization, 'pass/w"ort', 'pass/w\\"ort', 'topsecret?&', 'topsecret%3F%26', 'hush-hush'];
    receiver.respond = (_request, response) => void response.writeHead(401).end(`wrong ${said.join(' ')} end`);
    await expect(call(data)).rejects.toThrow('The host "127.0.0.1" responded with 401: wrong … … … … … … end');
    receiver.respond = (_request, response) =>
      void response.writeHead(302, { location: 'ftp://x/topsecret%3F%26/hush-hush' }).end();
    await expect(call({ ...data, method: 'GET' })).rejects.toMatchObject({
      message: 'Outgoing calls go to https: URLs, not to "ftp://x/…/…"',
      cause: undefined,
    });
  });
});

test('settings that no call can have are refused with their key', async ({ ann }) => {
  const { path } = await createJob(ann);
  const add = (data: object) =>
    ann.post(`${path}/actions`, { type: 'webhook', name: 'x', data: { url: 'https://example.com', ...data } });
  for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'CONNECTION', 'Upgrade', 'X-DWS-Delivery'])
    await expectInvalid(add({ headers: { [name]: 'x' } }), `data.headers.${name}`, /the service sets itself/);
  await expectInvalid(add({ headers: { 'X-a': '1', 'x-A': '2' } }), 'data.headers.x-A', /is given twice/);
  for (const value of ['a\nb', 'a\rb', '€', '••••x'])
    await expectInvalid(add({ headers: { 'X-a': value } }), 'data.headers.X-a', /pattern/);
  await expectInvalid(add({ headers: { 'X-a': 'a\0b' } }), 'data.headers.X-a', /U\+0000/);
  await expectInvalid(add({ method: 'GET', body: 'x' }), 'data.body', /GET/);
  await expectInvalid(add({ method: 'HEAD' }), 'data.method', /POST/);
  expect((await ann.get(`${path}/actions`)).body.total).toBe(0);
  await expectStatus(add({ headers: { 'X-a': 'Füße' } }), 201);
});
