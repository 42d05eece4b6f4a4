import { createClient } from 'graphql-ws';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Viewer } from '../../src/core/viewer.ts';
import { createViewerContext } from '../../src/services/resource/viewer-context.ts';
import type { Client } from '../support/client.ts';
import { test as base } from '../support/fixture.ts';
import { eventually } from './fixture.ts';
import { GATED, makeDataset } from './refreshable.ts';

const FIELDS =
  'id progress operation resource { kind id } status percent current total unit message startedAt updatedAt finishedAt result error { statusCode code message }';

/** A dataset of ann's, and a refresh of it under a name of hers. */
const test = base.extend<{ dataset: Awaited<ReturnType<typeof makeDataset>> }>({
  dataset: [
    async ({ service, ann }, use) => {
      const [user] = await service.platform.system.query<{ tenantId: string }>({
        text: `select tenant_id as "tenantId" from dws.app_user where id = $1`,
        values: [ann.id],
      });
      const viewer = { userId: ann.id, tenantId: user!.tenantId } as Viewer;
      const dataset = await makeDataset(
        service,
        createViewerContext(service.platform, { signal: new AbortController().signal } as never, viewer),
      );
      await use(dataset);
      await dataset.drop();
    },
    { scope: 'file' },
  ],
});

interface ServerEvent {
  event: string;
  id: number;
  data: Record<string, unknown>;
}

/** All server-sent events of a stream, until it ends. */
async function eventsOf(client: Client, path: string, headers: Record<string, string> = {}): Promise<ServerEvent[]> {
  const { status, headers: answered, body } = await client.get(path, headers);
  expect([status, answered.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  return String(body)
    .split('\n\n')
    .filter((block) => block.startsWith('event:'))
    .map((block) => {
      const [event, id, data] = block.split('\n').map((line) => line.slice(line.indexOf(':') + 2));
      return { event: event!, id: Number(id), data: JSON.parse(data!) };
    });
}

async function subscription(client: Client, id: string): Promise<Record<string, unknown>[]> {
  const socket = createClient({
    url: `${client.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: client.headers.authorization },
  });
  const told = [];
  for await (const { data, errors } of socket.iterate({
    query: `subscription ($id: ID!) { progress(id: $id) { status percent result error { code } } }`,
    variables: { id },
  })) {
    if (errors) throw Object.assign(new Error(errors[0]!.message), errors[0]);
    told.push((data as { progress: Record<string, unknown> }).progress);
  }
  await socket.dispose();
  return told;
}

describe('the record of an operation', () => {
  test('is the caller’s, by id and by the name they gave, in both APIs', async ({
    ann,
    bob,
    stranger,
    anonymous,
    dataset,
  }) => {
    const id = await dataset.refresh('select 1 as id', {}, 'nightly');
    const [finished] = (await eventsOf(ann, `/progress/${id}/events`)).slice(-1);
    expect(finished!.data).toEqual({
      id,
      progress: 'nightly',
      operation: 'dataset.refresh',
      resource: { kind: 'dataset', id: dataset.id },
      status: 'succeeded',
      percent: 100,
      current: 1,
      total: null,
      unit: 'rows',
      message: null,
      startedAt: expect.any(String),
      updatedAt: expect.any(String),
      finishedAt: expect.any(String),
      result: expect.objectContaining({ id: dataset.id, records: 1, success: true }),
      error: null,
    });
    for (const name of [id, 'nightly']) {
      expect((await ann.get(`/progress/${name}`)).body).toEqual({
        ...finished!.data,
        _links: { self: { href: `/api/progress/${id}` } },
      });
      expect((await ann.data(`{ operation(id: "${name}") { ${FIELDS} } }`)).operation).toEqual({
        ...finished!.data,
        status: 'SUCCEEDED',
      });
      for (const other of [bob, stranger]) {
        expect(await other.get(`/progress/${name}`)).toMatchObject({ status: 404 });
        expect(await other.get(`/progress/${name}/events`)).toMatchObject({ status: 404 });
        expect(await other.delete(`/progress/${name}`)).toMatchObject({ status: 404 });
        expect(await other.gql(`{ operation(id: "${name}") { id } }`)).toMatchObject({
          errors: [{ extensions: { code: 'NOT_FOUND' } }],
        });
        await expect(subscription(other, name)).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND' } });
      }
      expect(await anonymous.get(`/progress/${name}`)).toMatchObject({ status: 401 });
    }
  });

  test('is listed for its caller, by resource and status', async ({ ann, bob, dataset }) => {
    const good = await dataset.refresh('select 2 as id');
    const bad = await dataset.refresh('select 1 / 0 as id');
    for (const id of [good, bad]) await eventsOf(ann, `/progress/${id}/events`);
    const ids = async (client: Client, query: string) =>
      (await client.get(`/progress?${query}`)).body._embedded['svc:operation'].map(
        (record: { id: string }) => record.id,
      );
    expect(await ids(ann, `resource=${dataset.id}&limit=2`)).toEqual([bad, good]);
    expect((await ids(ann, `resource=${dataset.id}&status=failed`))[0]).toBe(bad);
    expect(await ids(ann, `resource=${bad}`)).toEqual([]);
    expect(await ids(bob, '')).toEqual([]);
    expect(await ann.get('/progress?status=lost')).toMatchObject({ status: 400 });
    const { operations } = await ann.data(
      `{ operations(status: FAILED, limit: 1) { total count items { id error { statusCode message } } } }`,
    );
    expect(operations).toMatchObject({
      count: 1,
      items: [{ id: bad, error: { message: expect.stringContaining('division by zero') } }],
    });
  });
});

describe('following an operation', () => {
  test('begins with the current state, tells every change and ends, in both APIs', async ({ ann, dataset }) => {
    const open = await dataset.closeGate();
    const id = await dataset.refresh(GATED, {}, 'followed');
    const [streamed, told] = [eventsOf(ann, '/progress/followed/events'), subscription(ann, 'followed')];
    await eventually(async () => (await dataset.running()).length > 0);
    await open();
    const events = await streamed;
    expect(events.every(({ event }) => event === 'progress')).toBe(true);
    expect(events.map((event) => event.id)).toEqual(events.map((event) => event.id).toSorted((a, b) => a - b));
    expect(events.at(-1)!.data).toMatchObject({ id, status: 'succeeded', percent: 100, current: 5 });
    expect((await told).at(-1)).toMatchObject({ status: 'SUCCEEDED', percent: 100, result: { records: 5 } });

    const again = await eventsOf(ann, `/progress/${id}/events`, { 'last-event-id': '0' });
    expect(again).toEqual([events.at(-1)]);
  });

  test('a cancelled one ends with that state; what ended cannot be cancelled', async ({ ann, dataset }) => {
    const open = await dataset.closeGate();
    const id = await dataset.refresh(GATED);
    await eventually(async () => (await dataset.running()).length > 0);
    const streamed = eventsOf(ann, `/progress/${id}/events`);
    expect(await ann.delete(`/progress/${id}`)).toMatchObject({ status: 202, body: { id } });
    expect((await streamed).at(-1)!.data).toMatchObject({
      status: 'cancelled',
      error: { statusCode: 409, code: 'CANCELLED' },
    });
    expect(await ann.delete(`/progress/${id}`)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(await ann.gql(`mutation { cancelOperation(id: "${id}") { id } }`)).toMatchObject({
      errors: [{ extensions: { code: 'CONFLICT' } }],
    });
    await open();
  });
});
