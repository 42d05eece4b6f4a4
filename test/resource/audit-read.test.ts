import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { describe, expect } from 'vitest';
import { Dataset } from '../../entities/dataset.ts';
import { yieldInParts } from '../../src/core/files.ts';
import { readFirstRows } from '../../src/services/dataset/dataset-rows.ts';
import { VIEW_COLUMNS, type ViewedDataset } from '../../src/services/dataset/dataset-view.ts';
import { insertRendition } from '../../src/services/template/rendition.ts';
import { createApp } from '../app/app-fixture.ts';
import { callApi, servicesFor } from '../app/handler-services-fixture.ts';
import { createOrders } from '../dataset/dataset-fixture.ts';
import { contextOf } from '../job/driver-fixture.ts';
import { recordReads } from '../support/audit-fixture.ts';
import { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { openSocket } from '../support/follow-operation.ts';
import { startService, type Service } from '../support/service.ts';
import { test } from '../support/shop-fixture.ts';

/** Reads an export in GraphQL. Returns its text. */
async function readBySocket(caller: Client, document: string): Promise<string> {
  const socket = openSocket(caller);
  let text = '';
  for await (const { data, errors } of socket.iterate<Record<string, { text: string }>>(document, {})) {
    if (errors) throw new Error(errors[0]!.message);
    text += Object.values(data!)[0]!.text;
  }
  await socket.dispose();
  return text;
}

/** Receives the head of a response, and closes the connection. */
async function openAndLeave({ url, headers }: Client, path: string): Promise<void> {
  const request = get(`${url}/api${path}`, { headers: headers as Record<string, string> });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.destroy();
  await once(response, 'close');
}

describe('an export', () => {
  test('is an event with the numbers of rows and bytes, in both APIs', async ({ ann, service, source }) => {
    const { id, slug } = await createOrders(ann, source, { refresh: true });
    const common = { action: 'datasetExport', kind: 'dataset', resourceId: id, outcome: 'succeeded', username: 'ann' };
    let [csv, ids] = ['', ''];
    expect(
      await recordReads(service, async () => {
        csv = String((await ann.get(`/datasets/${slug}/export?format=csv&sort=id`)).body);
        const document = `subscription { datasetExport(id: "${id}", format: CSV, fields: ["id"]) { text } }`;
        ids = await readBySocket(ann, document);
      }),
    ).toEqual([
      {
        ...common,
        channel: 'rest',
        parameters: expect.arrayContaining(['format', 'sort']),
        rows: 20,
        bytes: Buffer.byteLength(csv),
      },
      {
        ...common,
        channel: 'websocket',
        parameters: expect.arrayContaining(['format', 'fields']),
        rows: 20,
        bytes: Buffer.byteLength(ids),
      },
    ]);
    expect(ids.trimEnd().split('\r\n')).toHaveLength(21);
  });

  test('that is refused is an event, in both APIs, and an invalid one is not', async ({
    anonymous,
    ann,
    bob,
    service,
    source,
  }) => {
    const { id, slug } = await createOrders(ann, source, { refresh: true });
    const document = (key: string) => `subscription { datasetExport(id: "${key}", format: CSV) { text } }`;
    const common = { action: 'datasetExport', kind: 'dataset', outcome: 'denied', rows: null, bytes: null };
    expect(
      await recordReads(service, async () => {
        await expectStatus(bob.get(`/datasets/${id}/export?format=csv`), 404);
        await expect(readBySocket(bob, document(slug))).rejects.toThrow(/There is no dataset/);
        await expectStatus(ann.get(`/datasets/${id}/export?format=csv&sort=nothing`), 400);
        await expectStatus(anonymous.get(`/datasets/${id}/export?format=csv`), 401);
      }),
    ).toEqual([
      { ...common, resourceId: id, channel: 'rest', username: 'bob', parameters: ['format'] },
      { ...common, resourceId: slug, channel: 'websocket', username: 'bob', parameters: ['format'] },
    ]);
  });

  test('of the audit log is in the audit log, which shows it in both APIs', async ({ admin, service }) => {
    const reads = await recordReads(service, async () => {
      await expectStatus(admin.get('/audit/export?format=ndjson&channel=rest'), 200);
      await readBySocket(admin, 'subscription { auditExport(format: JSON) { text } }');
    });
    expect(reads).toMatchObject([
      { action: 'auditExport', kind: null, resourceId: null, outcome: 'succeeded', channel: 'rest' },
      { action: 'auditExport', outcome: 'succeeded', channel: 'websocket' },
    ]);
    const { body } = await admin.get('/audit?action=auditExport&channel=rest&limit=1');
    const { parameters, rows, bytes } = reads[0]!;
    expect(body._embedded['svc:audit-event']).toMatchObject([{ outcome: 'succeeded', parameters, rows, bytes }]);
    expect(
      await admin.data('{ auditEvents(action: "auditExport", outcome: SUCCEEDED, channel: REST) { items { bytes } } }'),
    ).toMatchObject({ auditEvents: { items: [{ bytes }] } });
  });

  test('that its client leaves is aborted', async ({ ann, service, source }) => {
    const query = `select n as id, repeat('x', 1000) as text from generate_series(1, 20000) n`;
    const { id } = await createOrders(ann, source, { query, refresh: true });
    const reads = await recordReads(service, () => openAndLeave(ann, `/datasets/${id}/export?format=csv`));
    expect(reads).toMatchObject([{ action: 'datasetExport', outcome: 'aborted', channel: 'rest' }]);
    expect(reads[0]!['bytes']).toBeLessThan(20_000_000);
  });
});

/** Stores a document of a template, as a rendering of the caller does. Returns the id of the rendition. */
async function storeDocument({ platform }: Service, caller: Client, templateId: string, text: string): Promise<string> {
  const [user] = await platform.system.query<{ tenantId: string }>({
    text: `select tenant_id as "tenantId" from dws.app_user where id = $1`,
    values: [caller.id],
  });
  const { tenantId } = user!;
  const saved = await platform.files.save(yieldInParts(Buffer.from(text)), 0);
  const plan = { template: { id: templateId, tenantId }, handler: { id: 'text' }, preview: false };
  const document = { filename: 'hello.txt', contentType: 'text/plain; charset=utf-8', pages: null };
  const { id } = await platform.database.transaction(tenantId, (tx) =>
    insertRendition(tx, platform, { tenantId, userId: caller.id }, plan as never, document, saved),
  );
  return id;
}

test('a document is an event, in both APIs, as file and as text', async ({ ann, service }) => {
  const { id } = await ann.creates('/templates', { name: 'Report' });
  const rendition = await storeDocument(service, ann, id, 'Hello ann');
  const common = { action: 'rendition', kind: 'template', resourceId: id, outcome: 'succeeded', rows: null, bytes: 9 };
  const contents = `/templates/${id}/renditions/${rendition}/contents`;
  const document = `{ template(id: "${id}") { rendition(renditionId: "${rendition}") { text } } }`;
  expect(
    await recordReads(service, async () => {
      const { headers, body } = await ann.get(contents);
      expect(body).toBe('Hello ann');
      await expectStatus(ann.get(contents, { 'if-none-match': headers.get('etag')! }), 304);
      expect(await ann.data(document)).toEqual({ template: { rendition: { text: 'Hello ann' } } });
    }),
  ).toMatchObject([
    { ...common, channel: 'rest' },
    { ...common, channel: 'graphql' },
  ]);
});

describe('a read of rows with AUDIT_ROW_READS', () => {
  test('is an event with names of arguments alone, in both APIs, by sockets and handlers', async ({
    service,
    admin,
    ann,
    source,
  }) => {
    const { id, slug } = await createOrders(ann, source, { refresh: true });
    const path = `/datasets/${slug}/data?limit=3&sort=-id&filter={"id":{"$gt":7777}}`;
    expect(await recordReads(service, () => expectStatus(ann.get(path), 200))).toEqual([]);

    const recording = await startRecording(service);
    const caller = new Client(recording.url, ann.headers, ann);
    const handler = await servicesFor(recording, ann, await createApp(admin, 'Reader'));
    const read = (selection: string) => `{ dataset(id: "${id}") { ${selection} } }`;
    const events = await recordReads(service, async () => {
      const { status, headers } = await caller.get(path);
      expect(status).toBe(200);
      await expectStatus(caller.get(path, { 'if-none-match': headers.get('etag')! }), 304);
      await expectStatus(caller.get(`/datasets/${slug}/data?sort=nothing`), 400);
      await caller.data(read('data(limit: 2, q: "7777") { items total }'));
      await caller.data(read('aggregate(groupBy: [{ field: "region" }], measures: [{ fn: COUNT, as: "n" }]) { rows }'));
      await caller.data(read('discover(fields: ["id"]) { total }'));
      const socket = openSocket(caller);
      for await (const { errors } of socket.iterate(read('data(limit: 5) { items }'), {}))
        expect(errors).toBe(undefined);
      await socket.dispose();
      await expectStatus(callApi(handler, 'GET', `/api/datasets/${slug}/data?limit=4`), 200);
    });
    await recording.close();
    const common = { kind: 'dataset', resourceId: id, outcome: 'succeeded', username: 'ann', bytes: null };
    const rowsRead = { ...common, action: 'datasetRows' };
    expect(events).toEqual([
      { ...rowsRead, channel: 'rest', parameters: expect.arrayContaining(['limit', 'sort', 'filter']), rows: 0 },
      { ...rowsRead, channel: 'graphql', parameters: expect.arrayContaining(['limit', 'q']), rows: 0 },
      {
        ...common,
        action: 'datasetAggregate',
        channel: 'graphql',
        parameters: expect.arrayContaining(['groupBy', 'measures']),
        rows: 4,
      },
      { ...common, action: 'datasetProfile', channel: 'graphql', parameters: ['fields'], rows: null },
      { ...rowsRead, channel: 'websocket', parameters: ['limit'], rows: 5 },
      { ...rowsRead, channel: 'app', parameters: ['limit'], rows: 4 },
    ]);
    expect(JSON.stringify(events)).not.toContain('7777');
  });

  test('is an event of templates, as one page and in batches', async ({ service, ann, source }) => {
    const { id } = await createOrders(ann, source, { refresh: true });
    const recording = await startRecording(service);
    const ctx = await contextOf(recording, `user:${ann.id}`);
    const dataset = (await ctx.read.one(Dataset, id, [...VIEW_COLUMNS])) as unknown as ViewedDataset;
    const events = await recordReads(service, async () => {
      for (const limit of [5, 5000]) await readFirstRows(ctx, dataset, { sort: 'id' }, limit, () => {});
    });
    await recording.close();
    expect(events).toMatchObject([
      { action: 'datasetRows', resourceId: id, channel: 'job', username: 'ann', parameters: ['sort'], rows: 5 },
      { action: 'datasetRows', resourceId: id, channel: 'job', username: 'ann', parameters: ['sort'], rows: 20 },
    ]);
  });
});

/** Starts another process of a service, which records reads of rows. */
const startRecording = ({ databaseUrl, platform: { config } }: Service): Promise<Service> =>
  startService({ ROLE: 'web', DATA_DIR: config.DATA_DIR, AUDIT_ROW_READS: 'true' }, { databaseUrl });
