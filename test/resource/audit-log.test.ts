import { describe, expect } from 'vitest';
import type { RecordedEvent } from '../support/audit-fixture.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';

describe('the audit log', () => {
  test('is visible to superusers only', async ({ ann, anonymous }) => {
    for (const path of ['/audit', '/audit/export']) {
      await expectError(ann.get(path), 403, 'You lack the permission tenant:superuser');
      await expectStatus(anonymous.get(path), 401);
    }
  });

  test('lists the events of the tenant in pages, latest first', async ({ admin, stranger }) => {
    const { id } = await admin.creates('/reports', { name: 'Listed' });
    await admin.put(`/reports/${id}`, { description: 'x' });
    await admin.data(`mutation { deleteReport(id: "${id}") }`);
    const page = await expectBody(admin.get(`/audit?resourceId=${id}&limit=2`), 200, {
      count: 2,
      total: 3,
      _links: { next: { href: `/api/audit?resourceId=${id}&limit=2&start=2` } },
    });
    expect(page._embedded['svc:audit-event'][0]).toEqual({
      id: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
      userId: admin.id,
      username: 'admin',
      action: 'deleteReport',
      kind: 'report',
      resourceId: id,
      outcome: 'succeeded',
      channel: 'graphql',
      address: '127.0.0.1',
      tokenId: expect.any(String),
      sessionId: null,
      requestId: expect.any(String),
      parameters: null,
      rows: null,
      bytes: null,
      _links: { 'svc:user': { href: `/api/users/${admin.id}` }, 'svc:resource': { href: `/api/reports/${id}` } },
    });
    expect(
      await admin.data(
        `{ auditEvents(resourceId: "${id}", channel: REST) { total items { action outcome channel } } }`,
      ),
    ).toEqual({
      auditEvents: {
        total: 2,
        items: [
          { action: 'updateReport', outcome: 'SUCCEEDED', channel: 'REST' },
          { action: 'createReport', outcome: 'SUCCEEDED', channel: 'REST' },
        ],
      },
    });
    expect((await stranger.get(`/audit?resourceId=${id}`)).body.total).toBe(0);
    expect((await stranger.get('/audit/export')).body).not.toContain(id);
  });

  test('is filtered by user, action, resource, outcome, channel and time', async ({ admin, ann }) => {
    const from = new Date().toISOString();
    const { id } = await ann.creates('/reports', { name: 'Searched' });
    await ann.put('/users/admin', { displayName: 'x' });
    const to = new Date(Date.now() + 1).toISOString();
    const actionsOf = async (query: string) => {
      const { body } = await admin.get(`/audit?from=${from}&to=${to}&${query}`);
      return body._embedded['svc:audit-event'].map(({ action }: RecordedEvent) => action);
    };
    expect(await actionsOf(`userId=${ann.id}`)).toEqual(['updateUser', 'createReport']);
    expect(await actionsOf(`userId=${admin.id}`)).toEqual([]);
    expect(await actionsOf('outcome=denied')).toEqual(['updateUser']);
    expect(await actionsOf(`kind=report&action=createReport&channel=rest&resourceId=${id}`)).toEqual(['createReport']);
    expect(await actionsOf('userId=nobody')).toEqual([]);
    expect((await admin.get(`/audit?to=${from}&resourceId=${id}`)).body.total).toBe(0);
    for (const query of ['channel=latin', 'from=yesterday', 'sort=address'])
      await expectStatus(admin.get(`/audit?${query}`), 400, query);
  });
});

describe('the export of the audit log', () => {
  const EVENTS = 2500;
  /** Events with the same time. Batches of the export end between them. */
  const EVENTS_PER_MOMENT = 700;

  test('contains all matching events in order', async ({ admin, service }) => {
    await systemQuery(
      service,
      `insert into dws.audit_event (id, tenant_id, username, action, outcome, channel, request_id, created_at)
      select gen_random_uuid(), t.id, 'many, "quoted"', 'exported', 'succeeded', 'rest', n::text,
        timestamptz '2026-01-01' + n / ${EVENTS_PER_MOMENT} * interval '1 microsecond'
      from dws.tenant t cross join generate_series(0, ${EVENTS - 1}) n
      where t.slug = 'default'`,
    );
    const ndjson = await admin.get('/audit/export?action=exported');
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(ndjson.headers.get('content-disposition')).toBe('attachment; filename="audit.ndjson"');
    const events = String(ndjson.body)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RecordedEvent);
    expect(new Set(events.map(({ requestId }) => requestId)).size).toBe(EVENTS);
    const moments = events.map(({ requestId }) => Math.floor(Number(requestId) / EVENTS_PER_MOMENT));
    expect(moments).toEqual(moments.toSorted((one, other) => other - one));
    expect(events[0]).toMatchObject({
      username: 'many, "quoted"',
      outcome: 'succeeded',
      channel: 'rest',
      userId: null,
    });

    const csv = String((await admin.get('/audit/export?format=csv&action=exported')).body)
      .trimEnd()
      .split('\r\n');
    expect(csv[0]).toBe(
      'createdAt,id,userId,username,action,kind,resourceId,outcome,channel,address,tokenId,sessionId,requestId,' +
        'parameters,rows,bytes',
    );
    expect(csv[1]).toMatch(
      /^2026-01-01T00:00:00.000Z,[0-9a-f-]{36},,"many, ""quoted""",exported,,,succeeded,rest,,,,\d+,,,$/,
    );
    expect(csv.length).toBe(EVENTS + 1);
    await expectStatus(admin.get('/audit/export?format=pdf'), 400);
  });
});
