import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { expectNoDraft, expectOk, EXPENSIVE, SELECTED, test, total } from './draft-fixture.ts';

describe('a dataset without a draft', () => {
  test('editing creates a copy of the dataset for the caller, with rows and labels', async ({
    ann,
    bob,
    createOrders,
  }) => {
    const parent = await createOrders({ description: 'of the shop', flow: EXPENSIVE });
    await expectOk(ann.put(parent.path, { fields: [{ name: 'amount', label: 'Money', description: 'in euros' }] }));
    const original = (await ann.get(parent.path)).body;
    const edited = await bob.post(`${parent.path}/_edit`);
    const draft = edited.body;
    expect(edited.status).toBe(200);
    expect(draft).toMatchObject({
      name: 'Orders',
      description: 'of the shop',
      datasourceId: original.datasourceId,
      queryId: null,
      query: ORDERS_QUERY,
      params: [],
      flow: EXPENSIVE,
      settings: { color: 'red' },
      fields: original.fields,
      records: 11,
      size: original.size,
      dataUpdatedAt: original.dataUpdatedAt,
      ownerId: bob.id,
      parentId: parent.id,
      isDraft: true,
      isSnapshot: false,
      stale: false,
      hasUserSettings: false,
      permissions: { read: true, write: true, refresh: true },
    });
    expect(draft.fields.find(({ name }: { name: string }) => name === 'amount')).toMatchObject({
      label: 'Money',
      description: 'in euros',
    });
    expect(draft.id).not.toBe(parent.id);
    expect(draft.esIndex).not.toBe(original.esIndex);
    expect(draft._links).toMatchObject({
      self: { href: `/api/datasets/${draft.id}` },
      'svc:parent': { href: `/api/datasets/${parent.id}` },
      'svc:commit-draft': { href: `/api/datasets/${parent.id}/draft/_commit` },
    });
    expect((await bob.get(`/datasets/${draft.id}/data`)).body._embedded).toEqual(
      (await bob.get(`${parent.path}/data`)).body._embedded,
    );

    expect((await bob.get(parent.draft)).body).toEqual(draft);
    expect((await bob.get(`/datasets/${draft.id}`)).body).toEqual(draft);
    await expectNoDraft(ann.get(parent.draft), parent);
    const listed = (await bob.get('/datasets?limit=1000')).body._embedded['svc:dataset'].map(
      ({ id }: { id: string }) => id,
    );
    expect([listed.includes(parent.id), listed.includes(draft.id)]).toEqual([true, false]);
    expect((await ann.get(parent.path)).body).toEqual(original);
  });

  test('editing works the same in GraphQL', async ({ ann, createOrders }) => {
    const parent = await createOrders();
    const query = `{ dataset(id: "${parent.id}") { stale isDraft draft { id } } }`;
    expect((await ann.data(query)).dataset).toEqual({ stale: false, isDraft: false, draft: null });
    const { editDataset: draft } = await ann.data(
      `mutation {
        editDataset(id: "${parent.id}") {
          id parentId isDraft stale ownerId records query settings data(limit: 1, sort: "id") { items } draft { id }
        }
      }`,
    );
    expect(draft).toEqual({
      id: expect.any(String),
      parentId: parent.id,
      isDraft: true,
      stale: false,
      ownerId: ann.id,
      records: 20,
      query: ORDERS_QUERY,
      settings: { color: 'red' },
      data: { items: [expect.objectContaining({ id: 1 })] },
      draft: null,
    });
    expect((await ann.data(query)).dataset).toEqual({ stale: false, isDraft: false, draft: { id: draft.id } });
    expect((await ann.get(parent.draft)).body.id).toBe(draft.id);
  });

  test('editing works without rows, and with a saved query', async ({ ann, source, createOrders }) => {
    const empty = await createOrders({ refresh: false });
    expect((await ann.post(`${empty.path}/_edit`)).body).toMatchObject({ records: 0, esIndex: null, fields: [] });
    const saved = await ann.creates('/queries', { name: 'Linked', datasourceId: source.id, query: ORDERS_QUERY });
    const linked = await createOrders({ queryId: saved.id, datasourceId: undefined, query: undefined });
    expect((await ann.post(`${linked.path}/_edit`)).body).toMatchObject({
      queryId: saved.id,
      query: ORDERS_QUERY,
      records: 20,
    });
    await expectError(ann.delete(`/queries/${saved.id}`), 409);
  });

  test('concurrent calls create one draft', async ({ service, ann, createOrders }) => {
    const parent = await createOrders();
    const responses = await Promise.all([1, 2, 3].map(() => ann.post(`${parent.path}/_edit`)));
    expect(new Set(responses.map(({ status, body }) => `${status} ${body.id}`))).toEqual(
      new Set([`200 ${responses[0]!.body.id}`]),
    );
    expect(
      await service.platform.system.query({
        text: 'select id from dws.dataset where parent_id = $1',
        values: [parent.id],
      }),
    ).toHaveLength(1);
  });

  test('reading, deleting and committing the draft fail with 404', async ({ ann, createOrders }) => {
    const parent = await createOrders();
    await expectNoDraft(ann.get(parent.draft), parent);
    await expectNoDraft(ann.delete(parent.draft), parent);
    await expectNoDraft(ann.post(`${parent.draft}/_commit`), parent);
    for (const mutation of ['deleteDatasetDraft', 'commitDatasetDraft']) {
      const { errors } = await ann.gql(
        `mutation { ${mutation}(id: "${parent.id}") ${mutation.startsWith('commit') ? '{ id }' : ''} }`,
      );
      expect(errors).toMatchObject([
        { message: `There is no draft of dataset ${parent.id}`, extensions: { code: 'NOT_FOUND', status: 404 } },
      ]);
    }
    await expectError(ann.get(`/datasets/${UNKNOWN_ID}/draft`), 404, `There is no dataset ${UNKNOWN_ID}`);
    expect((await ann.get(parent.path)).body).toMatchObject({ query: ORDERS_QUERY });
    expect(
      (await ann.get(`${parent.path}/activity`)).body._embedded['svc:activity'].map(
        ({ type }: { type: string }) => type,
      ),
    ).not.toContain('dataset.draft.committed');
  });
});

describe('a dataset with a draft', () => {
  test('editing again returns the existing draft', async ({ ann, createOrders }) => {
    const parent = await createOrders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    await expectOk(ann.put(`/datasets/${id}`, { flow: EXPENSIVE, name: 'Big orders' }));
    await expectOk(ann.put(parent.path, { settings: { color: 'blue' } }));
    await expectBody(ann.post(`${parent.path}/_edit`), 200, {
      id,
      name: 'Big orders',
      flow: EXPENSIVE,
      settings: { color: 'red' },
      stale: true,
    });
    expect((await ann.data(`mutation { editDataset(id: "${parent.id}") { id name stale } }`)).editDataset).toEqual({
      id,
      name: 'Big orders',
      stale: true,
    });
  });

  test('changes and refreshes of the draft do not affect the dataset', async ({ ann, createOrders }) => {
    const parent = await createOrders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    await expectOk(ann.put(`/datasets/${id}`, { query: `select ${SELECTED}, 1 as one from orders`, flow: EXPENSIVE }));
    await expectOk(ann.post(`/datasets/${id}/_refresh`, {}));
    expect((await ann.get(`/datasets/${id}/data?filter={"one":1}&limit=1`)).body).toMatchObject({
      total: 11,
      _embedded: { 'svc:record': [{ one: 1 }] },
    });
    expect(await total(ann, parent.id)).toBe(20);
    expect((await ann.get(parent.path)).body).toMatchObject({ query: ORDERS_QUERY, flow: [], records: 20 });
    await expectError(ann.get(`${parent.path}/data?filter={"one":1}`), 400);
    expect((await ann.post(`/datasets/${id}/_run`, {})).body).toMatchObject({ success: true, records: 20 });
  });

  test('a refresh of the dataset does not change the rows of the draft', async ({ ann, shop, createOrders }) => {
    const parent = await createOrders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    await shop.sql('insert into orders values (21)');
    await expectOk(ann.post(`${parent.path}/_refresh`, {}));
    await shop.sql('delete from orders where id = 21');
    expect([await total(ann, parent.id), await total(ann, id)]).toEqual([21, 20]);
  });

  test('deleting the draft does not change the dataset', async ({ ann, createOrders }) => {
    const parent = await createOrders();
    const createDraft = async (): Promise<string> => {
      const { id } = (await ann.post(`${parent.path}/_edit`)).body;
      await expectOk(ann.put(`/datasets/${id}`, { query: 'select 1 as one' }));
      return id;
    };
    const expectDeleted = async (id: string) => {
      await expectNoDraft(ann.get(parent.draft), parent);
      await expectError(ann.get(`/datasets/${id}`), 404);
      expect((await ann.get(parent.path)).body).toMatchObject({ query: ORDERS_QUERY, records: 20 });
    };

    const first = await createDraft();
    expect(await ann.delete(parent.draft)).toMatchObject({ status: 204, body: '' });
    await expectDeleted(first);

    const second = await createDraft();
    expect((await ann.data(`mutation { deleteDatasetDraft(id: "${parent.id}") }`)).deleteDatasetDraft).toBe(parent.id);
    await expectDeleted(second);
  });

  test('deleting the draft stops its refresh', async ({ ann, createOrders }) => {
    const parent = await createOrders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    await expectOk(ann.put(`/datasets/${id}`, { query: 'select pg_sleep(60)::text as slept' }));
    const started = await ann.post(`/datasets/${id}/_refresh`, {}, { prefer: 'respond-async' });
    await expect.poll(async () => (await ann.get(`/progress/${started.body.id}`)).body.status).toBe('running');
    expect((await ann.delete(parent.draft)).status).toBe(204);
    await expect.poll(async () => (await ann.get(`/progress/${started.body.id}`)).body.status).toBe('cancelled');
  });

  test('an outdated If-Match neither deletes nor replaces the draft', async ({ ann, createOrders }) => {
    const parent = await createOrders();
    await expectError(ann.with({ 'if-match': 'W/"1-x"' }).put(parent.draft, {}), 412);
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    const etag = (await ann.get(parent.draft)).headers.get('etag')!;
    await expectOk(ann.put(`/datasets/${id}`, { name: 'Newer' }));
    const late = ann.with({ 'if-match': etag });
    await expectError(late.delete(parent.draft), 412);
    await expectError(late.put(parent.draft, {}), 412);
    expect((await ann.get(parent.draft)).body).toMatchObject({ id, name: 'Newer' });
    const current = (await ann.get(parent.draft)).headers.get('etag')!;
    expect((await ann.with({ 'if-match': current }).delete(parent.draft)).status).toBe(204);
  });

  test('a draft cannot have drafts, shares or filters, nor another owner', async ({
    service,
    ann,
    bob,
    createOrders,
  }) => {
    const parent = await createOrders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    const message = 'A draft or snapshot cannot have drafts';
    await expectError(ann.post(`/datasets/${id}/_edit`), 409, message);
    await expectError(ann.put(`/datasets/${id}/draft`, {}), 409, message);
    await expectError(ann.post(`/datasets/${id}/draft/_commit`), 409, message);
    expect(await ann.gql(`mutation { editDataset(id: "${id}") { id } }`)).toMatchObject({
      errors: [{ message, extensions: { status: 409 } }],
    });
    await expectError(ann.put(`/datasets/${id}/owner`, { ownerId: bob.id }), 409);
    await expectError(ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 1 }), 409);
    await expectError(ann.post(`/datasets/${id}/filters`, { name: 'x', criteria: {} }), 409);
    await service.platform.system.query({
      text: 'update dws.dataset set is_draft = false, is_snapshot = true where id = $1',
      values: [id],
    });
    await expectError(ann.post(`/datasets/${id}/_edit`), 409, message);
  });
});
