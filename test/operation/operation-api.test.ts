import { createClient } from 'graphql-ws';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Viewer } from '../../src/core/viewer.ts';
import { createViewerContext } from '../../src/services/resource/viewer-context.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { collect, eventually } from './fixture.ts';
import { GATED, createSourceDataset } from './refreshable.ts';

const FIELDS =
  'id progress operation resource { kind id } status percent current total unit message startedAt updatedAt ' +
  'finishedAt result error { statusCode code message }';

/** `dataset` is a dataset of ann's, whose refreshes a test can block. */
const test = base.extend<{ dataset: Awaited<ReturnType<typeof createSourceDataset>> }>({
  dataset: [
    async ({ service, ann }, use) => {
      const dataset = await createSourceDataset(service, await contextOf(service, ann));
      await use(dataset);
      await dataset.drop();
    },
    { scope: 'file' },
  ],
});

async function contextOf({ platform }: Pick<Service, 'platform'>, client: { id: string }) {
  const [user] = await platform.system.query<{ tenantId: string }>({
    text: `select tenant_id as "tenantId" from dws.app_user where id = $1`,
    values: [client.id],
  });
  const viewer = { userId: client.id, tenantId: user!.tenantId } as Viewer;
  return createViewerContext(platform, { signal: new AbortController().signal } as never, viewer);
}

interface ServerEvent {
  event: string;
  id: number;
  data: Record<string, unknown>;
}

/** Returns all server-sent events of a stream, when it has ended. */
async function readEvents(
  client: Client,
  path: string,
  requestHeaders: Record<string, string> = {},
): Promise<ServerEvent[]> {
  const { status, headers, body } = await client.get(path, requestHeaders);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  return String(body)
    .split('\n\n')
    .filter((block) => block.startsWith('event:'))
    .map((block) => {
      const [event, id, data] = block.split('\n').map((line) => line.slice(line.indexOf(':') + 2));
      return { event: event!, id: Number(id), data: JSON.parse(data!) };
    });
}

/** Returns all records of a `progress` subscription, when it has ended. Throws its first error. */
async function subscribe(client: Client, id: string): Promise<Record<string, unknown>[]> {
  const socket = createClient({
    url: `${client.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: client.headers.authorization },
  });
  const results = await collect(
    socket.iterate<{ progress: Record<string, unknown> }>({
      query: `subscription ($id: ID!) { progress(id: $id) { status percent result error { code } } }`,
      variables: { id },
    }),
  );
  await socket.dispose();
  return results.map(({ data, errors }) => {
    if (errors) throw Object.assign(new Error(errors[0]!.message), errors[0]);
    return data!.progress;
  });
}

describe('the record of an operation', () => {
  test('is found by id and by the caller’s own name, in both APIs', async ({ ann, dataset }) => {
    const id = await dataset.refresh('select 1 as id', {}, 'nightly');
    const finished = (await readEvents(ann, `/progress/${id}/events`)).at(-1)!.data;
    expect(finished).toEqual({
      id,
      progress: 'nightly',
      operation: 'dataset.refresh',
      resource: { kind: 'dataset', id: dataset.id },
      status: 'succeeded',
      percent: 100,
      current: 1,
      total: 1,
      unit: 'rows',
      message: null,
      startedAt: expect.any(String),
      updatedAt: expect.any(String),
      finishedAt: expect.any(String),
      result: expect.objectContaining({ id: dataset.id, records: 1, success: true }),
      error: null,
    });
    for (const idOrName of [id, 'nightly']) {
      const { body } = await ann.get(`/progress/${idOrName}`);
      const { _links, ...record } = body;
      expect(record).toEqual(finished);
      expect(_links).toMatchObject({
        self: { href: `/api/progress/${id}` },
        'svc:events': { href: `/api/progress/${id}/events` },
        'svc:resource': { href: `/api/datasets/${dataset.id}` },
      });
      const { operation } = await ann.data(`{ operation(id: "${idOrName}") { ${FIELDS} } }`);
      expect(operation).toEqual({
        ...finished,
        status: 'SUCCEEDED',
        operation: 'DATASET_REFRESH',
        resource: { ...(finished['resource'] as object), kind: 'DATASET' },
      });
    }
  });

  test('is hidden from other users', async ({ ann, bob, stranger, anonymous, dataset }) => {
    const id = await dataset.refresh('select 1 as id', {}, 'hidden');
    await readEvents(ann, `/progress/${id}/events`);
    for (const idOrName of [id, 'hidden']) {
      for (const other of [bob, stranger]) {
        await expectError(other.get(`/progress/${idOrName}`), 404);
        await expectError(other.get(`/progress/${idOrName}/events`), 404);
        await expectError(other.delete(`/progress/${idOrName}`), 404);
        await expectGraphqlError(other.gql(`{ operation(id: "${idOrName}") { id } }`), 'NOT_FOUND');
        await expect(subscribe(other, idOrName)).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND' } });
      }
      await expectError(anonymous.get(`/progress/${idOrName}`), 401);
    }
  });

  test('is listed for its caller, by resource and status', async ({ ann, bob, dataset }) => {
    const succeeded = await dataset.refresh('select 2 as id');
    const failed = await dataset.refresh('select 1 / 0 as id');
    for (const id of [succeeded, failed]) await readEvents(ann, `/progress/${id}/events`);
    const listIds = async (client: Client, query: string): Promise<string[]> => {
      const { body } = await client.get(`/progress?${query}`);
      return body._embedded['svc:operation'].map((record: { id: string }) => record.id);
    };
    expect(await listIds(ann, `resource=${dataset.id}&limit=2`)).toEqual([failed, succeeded]);
    expect((await listIds(ann, `resource=${dataset.id}&status=failed`))[0]).toBe(failed);
    expect(await listIds(ann, `resource=${failed}`)).toEqual([]);
    expect(await listIds(bob, '')).toEqual([]);
    await expectError(ann.get('/progress?status=lost'), 400);

    const { operations } = await ann.data(
      `{ operations(status: FAILED, limit: 1) { total count items { id error { statusCode message } } } }`,
    );
    expect(operations).toMatchObject({
      count: 1,
      items: [{ id: failed, error: { message: expect.stringContaining('division by zero') } }],
    });
  });
});

describe('following an operation', () => {
  test('returns the current state, every change and the final state, in both APIs', async ({ ann, dataset }) => {
    const openGate = await dataset.closeGate();
    const id = await dataset.refresh(GATED, {}, 'followed');
    const streaming = readEvents(ann, '/progress/followed/events');
    const subscribing = subscribe(ann, 'followed');
    await eventually(async () => (await dataset.running()).length > 0);
    await openGate();

    const events = await streaming;
    const eventIds = events.map((event) => event.id);
    expect(events.every(({ event }) => event === 'progress')).toBe(true);
    expect(eventIds).toEqual(eventIds.toSorted((a, b) => a - b));
    expect(events.at(-1)!.data).toMatchObject({ id, status: 'succeeded', percent: 100, current: 5 });
    const records = await subscribing;
    expect(records.at(-1)).toMatchObject({ status: 'SUCCEEDED', percent: 100, result: { records: 5 } });

    const resumed = await readEvents(ann, `/progress/${id}/events`, { 'last-event-id': '0' });
    expect(resumed).toEqual([events.at(-1)]);
  });

  test('resumes after `Last-Event-ID` with the current state, and is 204 after the final one', async ({
    ann,
    bob,
    dataset,
  }) => {
    const openGate = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    const path = `/progress/${id}/events`;
    const resuming = readEvents(ann, path, { 'last-event-id': '1000' });
    await eventually(async () => (await dataset.running()).length > 0);
    await openGate();
    const events = await resuming;
    expect(events[0]!.data['status']).toBeOneOf(['queued', 'running']);
    const last = events.at(-1)!;
    expect(last.data['status']).toBe('succeeded');

    const resume = (lastId: string) => ann.get(path, { 'last-event-id': lastId });
    for (const seen of [last.id, last.id + 1])
      expect(await resume(String(seen))).toMatchObject({ status: 204, body: '' });
    for (const seen of [String(last.id - 1), 'x', ''])
      expect(await readEvents(ann, path, { 'last-event-id': seen })).toEqual([last]);
    await expectError(bob.get(path, { 'last-event-id': String(last.id) }), 404);
  });

  test('ends with the state `cancelled`; a finished operation cannot be cancelled', async ({ ann, dataset }) => {
    const openGate = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await eventually(async () => (await dataset.running()).length > 0);
    const streaming = readEvents(ann, `/progress/${id}/events`);
    await expectBody(ann.delete(`/progress/${id}`), 202, { id });
    expect((await streaming).at(-1)!.data).toMatchObject({
      status: 'cancelled',
      error: { statusCode: 409, code: 'CANCELLED' },
    });
    await expectBody(ann.delete(`/progress/${id}`), 409, { code: 'CONFLICT' });
    await expectGraphqlError(ann.gql(`mutation { cancelOperation(id: "${id}") { id } }`), 'CONFLICT');
    await openGate();
  });
});
