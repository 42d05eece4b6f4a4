import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { describe, expect } from 'vitest';
import { yieldInParts } from '../../src/core/files.ts';
import { insertRendition } from '../../src/services/template/rendition.ts';
import { createOrders } from '../dataset/dataset-fixture.ts';
import { recordReads } from '../support/audit-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { openSocket } from '../support/follow-operation.ts';
import type { Service } from '../support/service.ts';
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
  test('is an event with what was read, in both APIs', async ({ ann, service, source }) => {
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

  test('that is refused is an event, in both APIs, and an invalid one is none', async ({
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
