import { describe, expect } from 'vitest';
import type { Generation } from '../../src/core/dataset-index.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { UNKNOWN } from '../conformance/calls.ts';
import type { Client } from '../support/client.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { startService } from '../support/service.ts';
import { makeSource, ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

interface Orders {
  id: string;
  path: string;
  draft: string;
}

const EXPENSIVE = [{ type: 'filter', criteria: { amount: { $gte: 100 } } }];
const SELECTED = 'id, region, amount';

/** The world with a maker of datasets of ann's, which bob and the admin may write. */
const test = base.extend<{ orders: (more?: object) => Promise<Orders> }>({
  orders: [
    async ({ ann, bob, source }, use) =>
      use(async (more = {}) => {
        const { id } = await ann.creates('/datasets', {
          name: 'Orders',
          datasourceId: source.id,
          query: ORDERS_QUERY,
          settings: { color: 'red' },
          refresh: true,
          ...more,
        });
        expect(await ann.put(`/datasets/${id}/shares/${bob.username}`, { accessLevel: 2 })).toMatchObject({
          status: 200,
        });
        return { id, path: `/datasets/${id}`, draft: `/datasets/${id}/draft` };
      }),
    { scope: 'file' },
  ],
});

const total = async (who: Client, id: string): Promise<number> =>
  (await who.get(`/datasets/${id}/data?limit=1`)).body.total;
const isStale = async (who: Client, { draft }: Orders): Promise<boolean> => (await who.get(draft)).body.stale;
const success = (answer: { status: number }) => expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200 });
const noDraft = ({ id }: Orders) => ({
  status: 404,
  body: { code: 'NOT_FOUND', message: `There is no draft of dataset ${id}` },
});

describe('without a draft', () => {
  test('editing makes one that is the caller’s copy of the dataset as it is, rows and labels included', async ({
    ann,
    bob,
    orders,
  }) => {
    const parent = await orders({ description: 'of the shop', flow: EXPENSIVE });
    success(await ann.put(parent.path, { fields: [{ name: 'amount', label: 'Money', description: 'in euros' }] }));
    const was = (await ann.get(parent.path)).body;
    const edited = await bob.post(`${parent.path}/_edit`);
    const draft = edited.body;
    expect(edited.status).toBe(200);
    expect(draft).toMatchObject({
      name: 'Orders',
      description: 'of the shop',
      datasourceId: was.datasourceId,
      queryId: null,
      query: ORDERS_QUERY,
      params: [],
      flow: EXPENSIVE,
      settings: { color: 'red' },
      fields: was.fields,
      records: 11,
      size: was.size,
      dataUpdatedAt: was.dataUpdatedAt,
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
    expect(draft.esIndex).not.toBe(was.esIndex);
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
    expect(await ann.get(parent.draft)).toMatchObject(noDraft(parent));
    const listed = (await bob.get('/datasets?limit=1000')).body._embedded['svc:dataset'].map(
      ({ id }: { id: string }) => id,
    );
    expect([listed.includes(parent.id), listed.includes(draft.id)]).toEqual([true, false]);
    expect((await ann.get(parent.path)).body).toEqual(was);
  });

  test('GraphQL edits the same', async ({ ann, orders }) => {
    const parent = await orders();
    const asked = `{ dataset(id: "${parent.id}") { stale isDraft draft { id } } }`;
    expect((await ann.data(asked)).dataset).toEqual({ stale: false, isDraft: false, draft: null });
    const { editDataset: draft } = await ann.data(
      `mutation { editDataset(id: "${parent.id}") { id parentId isDraft stale ownerId records query settings data(limit: 1, sort: "id") { items } draft { id } } }`,
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
    expect((await ann.data(asked)).dataset).toEqual({ stale: false, isDraft: false, draft: { id: draft.id } });
    expect((await ann.get(parent.draft)).body.id).toBe(draft.id);
  });

  test('there is one of a dataset that has no rows yet, and of one that follows a saved query', async ({
    ann,
    source,
    orders,
  }) => {
    const empty = await orders({ refresh: false });
    expect((await ann.post(`${empty.path}/_edit`)).body).toMatchObject({ records: 0, esIndex: null, fields: [] });
    const saved = await ann.creates('/queries', { name: 'Linked', datasourceId: source.id, query: ORDERS_QUERY });
    const linked = await orders({ queryId: saved.id, datasourceId: undefined, query: undefined });
    expect((await ann.post(`${linked.path}/_edit`)).body).toMatchObject({
      queryId: saved.id,
      query: ORDERS_QUERY,
      records: 20,
    });
    expect(await ann.delete(`/queries/${saved.id}`)).toMatchObject({ status: 409 });
  });

  test('two calls at once make one draft', async ({ service, ann, orders }) => {
    const parent = await orders();
    const answers = await Promise.all([1, 2, 3].map(() => ann.post(`${parent.path}/_edit`)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`))).toEqual(
      new Set([`200 ${answers[0]!.body.id}`]),
    );
    expect(
      await service.platform.system.query({
        text: 'select id from dws.dataset where parent_id = $1',
        values: [parent.id],
      }),
    ).toHaveLength(1);
  });

  test('there is none to read, delete or commit', async ({ ann, orders }) => {
    const parent = await orders();
    expect(await ann.get(parent.draft)).toMatchObject(noDraft(parent));
    expect(await ann.delete(parent.draft)).toMatchObject(noDraft(parent));
    expect(await ann.post(`${parent.draft}/_commit`)).toMatchObject(noDraft(parent));
    for (const mutation of ['deleteDatasetDraft', 'commitDatasetDraft']) {
      const { errors } = await ann.gql(
        `mutation { ${mutation}(id: "${parent.id}") ${mutation.startsWith('commit') ? '{ id }' : ''} }`,
      );
      expect(errors).toMatchObject([
        { message: noDraft(parent).body.message, extensions: { code: 'NOT_FOUND', status: 404 } },
      ]);
    }
    expect(await ann.get(`/datasets/${UNKNOWN}/draft`)).toMatchObject({
      status: 404,
      body: { message: `There is no dataset ${UNKNOWN}` },
    });
    expect((await ann.get(parent.path)).body).toMatchObject({ query: ORDERS_QUERY });
    expect(
      (await ann.get(`${parent.path}/activity`)).body._embedded['svc:activity'].map(
        ({ type }: { type: string }) => type,
      ),
    ).not.toContain('dataset.draft.committed');
  });
});

describe('of a draft', () => {
  test('editing again answers it as it is', async ({ ann, orders }) => {
    const parent = await orders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    success(await ann.put(`/datasets/${id}`, { flow: EXPENSIVE, name: 'Big orders' }));
    success(await ann.put(parent.path, { settings: { color: 'blue' } }));
    const again = await ann.post(`${parent.path}/_edit`);
    expect(again).toMatchObject({
      status: 200,
      body: { id, name: 'Big orders', flow: EXPENSIVE, settings: { color: 'red' }, stale: true },
    });
    expect((await ann.data(`mutation { editDataset(id: "${parent.id}") { id name stale } }`)).editDataset).toEqual({
      id,
      name: 'Big orders',
      stale: true,
    });
  });

  test('the owner changes definition and rows, which the dataset does not notice', async ({ ann, orders }) => {
    const parent = await orders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    success(await ann.put(`/datasets/${id}`, { query: `select ${SELECTED}, 1 as one from orders`, flow: EXPENSIVE }));
    success(await ann.post(`/datasets/${id}/_refresh`, {}));
    expect((await ann.get(`/datasets/${id}/data?filter={"one":1}&limit=1`)).body).toMatchObject({
      total: 11,
      _embedded: { 'svc:record': [{ one: 1 }] },
    });
    expect(await total(ann, parent.id)).toBe(20);
    expect((await ann.get(parent.path)).body).toMatchObject({ query: ORDERS_QUERY, flow: [], records: 20 });
    expect(await ann.get(`${parent.path}/data?filter={"one":1}`)).toMatchObject({ status: 400 });
    expect((await ann.post(`/datasets/${id}/_run`, {})).body).toMatchObject({ success: true, records: 20 });
  });

  test('a refresh of the dataset leaves its rows as they are', async ({ ann, shop, orders }) => {
    const parent = await orders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    await shop.sql('insert into orders values (21)');
    success(await ann.post(`${parent.path}/_refresh`, {}));
    await shop.sql('delete from orders where id = 21');
    expect([await total(ann, parent.id), await total(ann, id)]).toEqual([21, 20]);
  });

  test('deleting leaves the dataset as it is', async ({ ann, orders }) => {
    const parent = await orders();
    for (const remove of [
      () => ann.delete(parent.draft),
      () => ann.gql(`mutation { deleteDatasetDraft(id: "${parent.id}") }`),
    ]) {
      const { id } = (await ann.post(`${parent.path}/_edit`)).body;
      success(await ann.put(`/datasets/${id}`, { query: 'select 1 as one' }));
      const answer = await remove();
      expect('data' in answer ? answer.data : answer).toMatchObject(
        'data' in answer ? { deleteDatasetDraft: parent.id } : { status: 204, body: '' },
      );
      expect(await ann.get(parent.draft)).toMatchObject(noDraft(parent));
      expect(await ann.get(`/datasets/${id}`)).toMatchObject({ status: 404 });
      expect((await ann.get(parent.path)).body).toMatchObject({ query: ORDERS_QUERY, records: 20 });
    }
  });

  test('deleting stops its refresh', async ({ ann, orders }) => {
    const parent = await orders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    success(await ann.put(`/datasets/${id}`, { query: 'select pg_sleep(60)::text as slept' }));
    const begun = await ann.post(`/datasets/${id}/_refresh`, {}, { prefer: 'respond-async' });
    await expect
      .poll(async () => (await ann.get(`/progress/${begun.body.id}`)).body.status, { timeout: 20_000 })
      .toBe('running');
    expect(await ann.delete(parent.draft)).toMatchObject({ status: 204 });
    await expect
      .poll(async () => (await ann.get(`/progress/${begun.body.id}`)).body.status, { timeout: 20_000 })
      .toBe('cancelled');
  });

  test('another version is neither deleted nor replaced', async ({ ann, orders }) => {
    const parent = await orders();
    expect(await ann.with({ 'if-match': 'W/"1-x"' }).put(parent.draft, {})).toMatchObject({ status: 412 });
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    const etag = (await ann.get(parent.draft)).headers.get('etag')!;
    success(await ann.put(`/datasets/${id}`, { name: 'Newer' }));
    const late = ann.with({ 'if-match': etag });
    expect(await late.delete(parent.draft)).toMatchObject({ status: 412 });
    expect(await late.put(parent.draft, {})).toMatchObject({ status: 412 });
    expect((await ann.get(parent.draft)).body).toMatchObject({ id, name: 'Newer' });
    const current = (await ann.get(parent.draft)).headers.get('etag')!;
    expect(await ann.with({ 'if-match': current }).delete(parent.draft)).toMatchObject({ status: 204 });
  });

  test('there is no draft, and it stays its owner’s', async ({ service, ann, bob, orders }) => {
    const parent = await orders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    const refused = { status: 409, body: { message: 'A draft or snapshot has no drafts of its own' } };
    for (const answer of [
      await ann.post(`/datasets/${id}/_edit`),
      await ann.put(`/datasets/${id}/draft`, {}),
      await ann.post(`/datasets/${id}/draft/_commit`),
    ])
      expect(answer).toMatchObject(refused);
    expect(await ann.gql(`mutation { editDataset(id: "${id}") { id } }`)).toMatchObject({
      errors: [{ message: refused.body.message, extensions: { status: 409 } }],
    });
    expect(await ann.put(`/datasets/${id}/owner`, { ownerId: bob.id })).toMatchObject({ status: 409 });
    expect(await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 1 })).toMatchObject({ status: 409 });
    expect(await ann.post(`/datasets/${id}/filters`, { name: 'x', criteria: {} })).toMatchObject({ status: 409 });
    await service.platform.system.query({
      text: 'update dws.dataset set is_draft = false, is_snapshot = true where id = $1',
      values: [id],
    });
    expect(await ann.post(`/datasets/${id}/_edit`)).toMatchObject(refused);
  });
});

describe('replacing the draft', () => {
  test('makes a new one of the dataset with the changes, whether there was one or not', async ({
    ann,
    source,
    orders,
  }) => {
    const parent = await orders();
    const first = await ann.put(parent.draft, { flow: EXPENSIVE, settings: { color: 'green' } });
    expect(first).toMatchObject({
      status: 200,
      body: {
        flow: EXPENSIVE,
        settings: { color: 'green' },
        query: ORDERS_QUERY,
        records: 20,
        parentId: parent.id,
        isDraft: true,
        stale: false,
      },
    });
    success(await ann.put(`/datasets/${first.body.id}`, { description: 'lost' }));

    const saved = await ann.creates('/queries', { name: 'Other', datasourceId: source.id, query: 'select 1 as one' });
    const second = await ann.put(parent.draft, {
      queryId: saved.id,
      name: 'Second',
      fields: [{ name: 'amount', label: 'Money' }],
    });
    expect(second).toMatchObject({
      status: 200,
      body: {
        name: 'Second',
        description: null,
        queryId: saved.id,
        query: 'select 1 as one',
        flow: [],
        settings: { color: 'red' },
      },
    });
    expect(second.body.fields).toContainEqual({
      name: 'amount',
      label: 'Money',
      type: 'number',
      format: null,
      description: null,
    });
    expect(second.body.id).not.toBe(first.body.id);
    expect(await ann.get(`/datasets/${first.body.id}`)).toMatchObject({ status: 404 });
    expect((await ann.get(parent.path)).body).toMatchObject({
      name: 'Orders',
      query: ORDERS_QUERY,
      flow: [],
      settings: { color: 'red' },
    });

    const { updateDatasetDraft: third } = await ann.data(
      `mutation { updateDatasetDraft(id: "${parent.id}", input: { query: "select 2 as two", description: "Third" }) { id query queryId name description } }`,
    );
    expect(third).toEqual({
      id: expect.any(String),
      query: 'select 2 as two',
      queryId: null,
      name: 'Orders',
      description: 'Third',
    });
    expect((await ann.get(parent.draft)).body.id).toBe(third.id);
    expect((await ann.post(`/datasets/${third.id}/_refresh`, {})).body).toMatchObject({ records: 1 });
  });

  test('takes an answer that is sent back', async ({ ann, orders }) => {
    const parent = await orders();
    const { body } = await ann.post(`${parent.path}/_edit`);
    const sent = await ann.put(parent.draft, { ...body, flow: EXPENSIVE });
    expect(sent).toMatchObject({ status: 200, body: { flow: EXPENSIVE, query: ORDERS_QUERY, fields: body.fields } });
    expect(sent.body.id).not.toBe(body.id);
  });

  test('that fails leaves the former', async ({ ann, bob, source, orders }) => {
    const parent = await orders();
    const { id } = (await bob.post(`${parent.path}/_edit`)).body;
    expect(await bob.put(parent.draft, { flow: [{ type: 'shuffle' }] })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('shuffle') },
    });
    expect(await bob.put(parent.draft, { flow: 'x' })).toMatchObject({ status: 400 });
    expect(await bob.put(parent.draft, { queryId: UNKNOWN })).toMatchObject({
      status: 404,
      body: { message: `There is no query ${UNKNOWN}` },
    });
    expect(await bob.put(parent.draft, { fields: [{ name: 'colour', label: 'x' }] })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('colour') },
    });
    expect(await bob.put(parent.draft, { query: 'select {{x}}', params: [] })).toMatchObject({
      status: 404,
      body: { message: `There is no datasource ${source.id}` },
    });
    expect(
      await bob.gql(`mutation { updateDatasetDraft(id: "${parent.id}", input: { queryId: "${UNKNOWN}" }) { id } }`),
    ).toMatchObject({ errors: [{ extensions: { status: 404 } }] });
    expect(await ann.put(parent.draft, { query: 'select {{x}}', params: [] })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('x') },
    });
    expect((await bob.get(parent.draft)).body.id).toBe(id);
    expect(await ann.get(parent.draft)).toMatchObject(noDraft(parent));
  });
});

describe('committing a draft', () => {
  test('makes the dataset what the draft is, deletes the draft and says so', async ({ ann, bob, orders }) => {
    const parent = await orders();
    const query = `select ${SELECTED}, amount * 2 as double from orders where amount > {{least}}`;
    const params = [
      { name: 'least', label: 'Least', dataType: 'number', defaultValue: 50, required: false, description: null },
    ];
    const { id } = (await ann.put(parent.draft, { query, params, flow: EXPENSIVE, settings: { color: 'green' } })).body;
    success(await ann.put(`/datasets/${id}`, { fields: [{ name: 'amount', label: 'Money' }] }));
    success(await ann.post(`/datasets/${id}/_refresh`, {}));
    const draft = (await ann.get(parent.draft)).body;
    const version = (await ann.get(parent.path)).headers.get('etag')!;

    const done = await ann.post(`${parent.draft}/_commit`);
    expect(done).toMatchObject({
      status: 200,
      body: {
        id: parent.id,
        isDraft: false,
        parentId: null,
        query,
        params,
        flow: EXPENSIVE,
        settings: { color: 'green' },
        fields: draft.fields,
        records: 20,
        ownerId: ann.id,
      },
    });
    expect(done.body.fields.map(({ name, label }: { name: string; label: string }) => `${name} ${label}`)).toEqual([
      'id id',
      'region region',
      'amount Money',
      'double double',
    ]);
    expect((await ann.get(parent.path)).body).toEqual(done.body);
    expect(await ann.with({ 'if-match': version }).put(parent.path, { name: 'x' })).toMatchObject({ status: 412 });
    expect(await ann.get(parent.draft)).toMatchObject(noDraft(parent));
    expect(await ann.get(`/datasets/${id}`)).toMatchObject({ status: 404 });

    const { _embedded } = (await ann.get(`${parent.path}/activity`)).body;
    expect(_embedded['svc:activity'][0]).toMatchObject({
      type: 'dataset.draft.committed',
      userId: ann.id,
      datasetId: parent.id,
      message: 'ann committed a draft of Orders',
      createdAt: expect.stringMatching(/Z$/),
      data: { fields: ['query', 'params', 'flow', 'settings', 'fields'] },
    });
    expect(
      (await bob.data(`{ dataset(id: "${parent.id}") { activity(limit: 1) { items { type message userId } } } }`))
        .dataset.activity.items,
    ).toEqual([{ type: 'dataset.draft.committed', message: 'ann committed a draft of Orders', userId: ann.id }]);

    expect(await total(ann, parent.id)).toBe(20);
    success(await ann.post(`${parent.path}/_refresh`, {}));
    expect((await ann.get(`${parent.path}/data?sort=id&limit=1`)).body).toMatchObject({
      total: 11,
      _embedded: { 'svc:record': [{ id: 10, double: 200 }] },
    });
  });

  test('clears what all users keep for the dataset, unless it shall not', async ({ ann, bob, orders }) => {
    const parent = await orders();
    const other = await orders();
    const keep = async () => {
      for (const client of [ann, bob])
        for (const { path } of [parent, other])
          success(await client.put(`${path}/user-settings`, { settings: { wide: true } }));
    };
    const kept = async ({ path }: Orders) => [
      (await ann.get(path)).body.hasUserSettings,
      (await bob.get(path)).body.hasUserSettings,
    ];
    const edit = () => ann.post(`${parent.path}/_edit`);
    await keep();
    await edit();
    expect(await ann.post(`${parent.draft}/_commit`, { clearAllUserSettings: false })).toMatchObject({
      status: 200,
      body: { hasUserSettings: true },
    });
    expect(await kept(parent)).toEqual([true, true]);
    expect((await edit()).body.hasUserSettings).toBe(true);
    expect(await ann.post(`${parent.draft}/_commit`, {})).toMatchObject({
      status: 200,
      body: { hasUserSettings: false },
    });
    expect([await kept(parent), await kept(other)]).toEqual([
      [false, false],
      [true, true],
    ]);

    await keep();
    const committed = async (more: string) => (
      await edit(),
      (await ann.data(`mutation { commitDatasetDraft(id: "${parent.id}"${more}) { id hasUserSettings } }`))
        .commitDatasetDraft
    );
    expect(await committed(', clearAllUserSettings: false')).toEqual({ id: parent.id, hasUserSettings: true });
    expect(await committed('')).toEqual({ id: parent.id, hasUserSettings: false });
    expect(await kept(parent)).toEqual([false, false]);
    expect(await ann.post(`${parent.draft}/_commit`, { clearAllUserSettings: 'no' })).toMatchObject({ status: 400 });
  });

  test('leaves drafts of others as they are, made of what is no more', async ({ ann, bob, orders }) => {
    const parent = await orders();
    const { id } = (await bob.put(parent.draft, { settings: { color: 'yellow' } })).body;
    await ann.put(parent.draft, { flow: EXPENSIVE });
    expect([await isStale(ann, parent), await isStale(bob, parent)]).toEqual([false, false]);
    success(await ann.post(`${parent.draft}/_commit`));
    expect((await bob.get(parent.draft)).body).toMatchObject({
      id,
      flow: [],
      settings: { color: 'yellow' },
      stale: true,
    });
    expect((await bob.data(`{ dataset(id: "${parent.id}") { stale draft { stale } } }`)).dataset).toEqual({
      stale: false,
      draft: { stale: true },
    });
    expect((await bob.post(`${parent.draft}/_commit`)).body).toMatchObject({ flow: [], settings: { color: 'yellow' } });
  });

  test('takes name and description only where the draft has its own, and fields that the dataset got meanwhile stay', async ({
    ann,
    shop,
    orders,
  }) => {
    const parent = await orders({ query: 'select * from orders' });
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    success(await ann.put(`/datasets/${id}`, { description: 'mine', fields: [{ name: 'amount', label: 'Money' }] }));
    await shop.sql('alter table orders add extra integer');
    success(await ann.post(`${parent.path}/_refresh`, {}));
    await shop.sql('alter table orders drop extra');
    success(await ann.put(parent.path, { name: 'Renamed' }));
    const { body } = await ann.post(`${parent.draft}/_commit`);
    expect(body).toMatchObject({ name: 'Renamed', description: 'mine' });
    expect(body.fields.map(({ name, label }: { name: string; label: string }) => `${name} ${label}`)).toEqual([
      'id id',
      'region region',
      'amount Money',
      'ordered_on ordered_on',
      'note note',
      'extra extra',
    ]);
  });

  test('of a query needs the right to its datasource, and happens as a whole or not at all', async ({
    ann,
    bob,
    source,
    orders,
  }) => {
    const parent = await orders();
    success(await bob.put(parent.draft, { flow: EXPENSIVE }));
    success(await ann.put(parent.path, { query: 'select 1 as amount' }));
    expect(await bob.post(`${parent.draft}/_commit`)).toMatchObject({
      status: 404,
      body: { message: `There is no datasource ${source.id}` },
    });
    expect((await ann.get(parent.path)).body).toMatchObject({ query: 'select 1 as amount', flow: [] });
    expect((await bob.get(parent.draft)).body).toMatchObject({ flow: EXPENSIVE });
    await ann.put(`/datasources/${source.id}/shares/bob`, { accessLevel: 2 });
    expect((await bob.post(`${parent.draft}/_commit`)).body).toMatchObject({ query: ORDERS_QUERY, flow: EXPENSIVE });
    await ann.delete(`/datasources/${source.id}/shares/bob`);
  });

  test('tells the owner of filters that fit no more', async ({ ann, bob, orders }) => {
    const parent = await orders();
    const filter = await ann.creates(`${parent.path}/filters`, {
      name: 'Noted',
      criteria: { note: { $exists: true } },
    });
    await ann.put(`${parent.path}/shares/bob`, { accessLevel: 1, datasetFilterId: filter.id });
    const { id } = (await ann.put(parent.draft, { query: `select ${SELECTED} from orders` })).body;
    success(await ann.post(`/datasets/${id}/_refresh`, {}));
    success(await ann.post(`${parent.draft}/_commit`));
    expect((await ann.get('/notifications?limit=1')).body._embedded['svc:notification']).toMatchObject([
      { type: 'dataset.filter.broken', message: expect.stringContaining('Noted') },
    ]);
    expect(await total(bob, parent.id)).toBe(0);
  });
});

describe('a draft is stale', () => {
  test('when what its dataset is by definition has changed, whatever became of the rows', async ({
    ann,
    shop,
    source,
    orders,
  }) => {
    const parent = await orders({ query: 'select * from orders' });
    await ann.post(`${parent.path}/_edit`);
    const changed = async (input: object, back: object) => {
      success(await ann.put(parent.path, input));
      const stale = await isStale(ann, parent);
      success(await ann.put(parent.path, back));
      return [stale, await isStale(ann, parent)];
    };
    expect(await changed({ settings: { color: 'blue' } }, { settings: { color: 'red' } })).toEqual([true, false]);
    expect(await changed({ flow: EXPENSIVE }, { flow: [] })).toEqual([true, false]);
    expect(await changed({ query: 'select 1' }, { query: 'select * from orders' })).toEqual([true, false]);
    expect(
      await changed(
        { query: 'select {{x}}::int', params: [{ name: 'x', dataType: 'number', defaultValue: 1 }] },
        { query: 'select * from orders', params: [] },
      ),
    ).toEqual([true, false]);
    expect(
      await changed({ fields: [{ name: 'id', label: 'Number' }] }, { fields: [{ name: 'id', label: null }] }),
    ).toEqual([true, false]);
    expect(
      await changed({ fields: [{ name: 'id', description: 'x' }] }, { fields: [{ name: 'id', description: null }] }),
    ).toEqual([true, false]);
    expect(await changed({ name: 'Renamed', description: 'x', tags: [] }, { name: 'Orders' })).toEqual([false, false]);
    const saved = await ann.creates('/queries', {
      name: 'Follow',
      datasourceId: source.id,
      query: 'select * from orders',
    });
    expect(await changed({ queryId: saved.id }, { queryId: null })).toEqual([true, false]);
    expect(
      (await ann.data(`{ datasets(limit: 1000) { items { stale } } }`)).datasets.items.every(
        ({ stale }: { stale: boolean }) => !stale,
      ),
    ).toBe(true);

    await shop.sql('alter table orders add extra integer, drop note');
    success(await ann.post(`${parent.path}/_refresh`, {}));
    expect(await isStale(ann, parent)).toBe(false);
    success(await ann.put(parent.path, { fields: [{ name: 'extra', label: 'More' }] }));
    expect(await isStale(ann, parent)).toBe(true);
    await shop.sql('alter table orders drop extra, add note text');
    expect((await ann.put(parent.draft, {})).body.stale).toBe(false);
  });
});

describe('a draft is its owner’s alone', () => {
  test('nobody else reads it, nor opens it by way of the dataset', async ({ ann, bob, stranger, orders }) => {
    const parent = await orders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    for (const other of [bob, stranger]) {
      for (const path of [`/datasets/${id}`, `/datasets/${id}/data`, `/datasets/${id}/user-settings`])
        expect(await other.get(path), path).toMatchObject({ status: 404 });
      expect(await other.gql(`{ dataset(id: "${id}") { name } }`)).toMatchObject({
        errors: [{ extensions: { status: 404 } }],
      });
    }
    expect(await bob.get(parent.draft)).toMatchObject(noDraft(parent));
    expect((await bob.post(`${parent.path}/_edit`)).body.id).not.toBe(id);
  });

  test('who may not write the dataset has none, and keeps none that they see', async ({ ann, bob, orders }) => {
    const parent = await orders();
    const { id } = (await bob.post(`${parent.path}/_edit`)).body;
    const refused = { status: 403, body: { message: 'You lack the permission dataset:write' } };
    const filter = await ann.creates(`${parent.path}/filters`, { name: 'EU', criteria: { region: 'EU' } });
    for (const share of [{ accessLevel: 1 }, { accessLevel: 3, datasetFilterId: filter.id }]) {
      success(await ann.put(`${parent.path}/shares/bob`, share));
      for (const answer of [
        await bob.post(`${parent.path}/_edit`),
        await bob.put(parent.draft, {}),
        await bob.post(`${parent.draft}/_commit`),
      ])
        expect(answer).toMatchObject(refused);
      expect(await bob.gql(`mutation { editDataset(id: "${parent.id}") { id } }`)).toMatchObject({
        errors: [{ message: refused.body.message, extensions: { status: 403 } }],
      });
    }
    expect((await bob.get(parent.draft)).body).toMatchObject({
      id,
      records: 5,
      query: null,
      settings: {},
      permissions: { read: true, write: false },
    });
    expect(await total(bob, id)).toBe(5);
    expect(await ann.delete(`${parent.path}/shares/bob`)).toMatchObject({ status: 204 });
    for (const path of [parent.draft, `/datasets/${id}`, `/datasets/${id}/data`])
      expect(await bob.get(path), path).toMatchObject({ status: 404 });
    expect(await bob.put(`/datasets/${id}`, { name: 'x' })).toMatchObject({ status: 404 });
    expect(await bob.delete(parent.draft)).toMatchObject({ status: 404 });
    success(await ann.put(`${parent.path}/shares/bob`, { accessLevel: 1 }));
    expect(await bob.delete(parent.draft)).toMatchObject({ status: 204 });
  });

  test('it goes with its dataset, and with its owner instead of to the heir', async ({
    service,
    admin,
    ann,
    orders,
  }) => {
    const eve = await service.user('eve');
    const parent = await orders();
    await ann.put(`${parent.path}/shares/eve`, { accessLevel: 2 });
    const drafts = [(await ann.post(`${parent.path}/_edit`)).body.id, (await eve.post(`${parent.path}/_edit`)).body.id];
    const left = async () =>
      (
        await service.platform.system.query<{ id: string }>({
          text: 'select id from dws.dataset where id = any($1)',
          values: [drafts],
        })
      ).map(({ id }) => id);
    await admin.post(`${parent.path}/_edit`);
    expect(await admin.delete('/users/eve')).toMatchObject({ status: 204 });
    expect(await left()).toEqual([drafts[0]]);
    expect(await ann.delete(parent.path)).toMatchObject({ status: 204 });
    expect(await left()).toEqual([]);
  });
});

describe('the rows of a draft', () => {
  test('are a clone: nothing is loaded, and the janitor spares them before the draft is there', async ({
    service,
    ann,
    orders,
  }) => {
    const { platform } = service;
    const parent = await orders();
    const clone = platform.index.clone.bind(platform.index);
    const cloned: Generation[] = [];
    platform.index.clone = async (from, id) => {
      const made = await clone(from, id);
      await sweepGenerations(platform, { replacedAge: 0, orphanAge: 0 });
      cloned.push(made);
      return made;
    };
    try {
      const draft = (await ann.post(`${parent.path}/_edit`)).body;
      await ann.post(`${parent.path}/_edit`);
      expect(cloned).toMatchObject([{ id: draft.esIndex, records: 20 }]);
      expect(await total(ann, draft.id)).toBe(20);
    } finally {
      platform.index.clone = clone;
    }
  });

  test('are dropped when it is gone, and when it could not be made', async ({ service, ann, orders }) => {
    const { platform } = service;
    const parent = await orders();
    const { esIndex } = (await ann.post(`${parent.path}/_edit`)).body;
    expect(await ann.delete(parent.draft)).toMatchObject({ status: 204 });
    expect(await ann.put(parent.draft, { flow: [{ type: 'shuffle' }] })).toMatchObject({ status: 400 });
    await sweepGenerations(platform, { replacedAge: 0, orphanAge: 0 });
    const [kept] = await platform.system.query<{ ids: string[] }>({
      text: 'select array_agg(generation_id) as ids from dws.dataset where generation_id is not null',
    });
    const present = (await platform.index.generations()).map(({ id }) => id);
    expect(present).not.toContain(esIndex);
    expect(present.toSorted()).toEqual(kept!.ids.toSorted());
    expect(await total(ann, parent.id)).toBe(20);
  });

  test.skipIf(!HAS_ELASTICSEARCH)('are a clone in Elasticsearch too', { timeout: 120_000 }, async ({ shop }) => {
    const service = await startService({ ELASTICSEARCH_URL: (await elasticsearch()).url });
    try {
      const admin = await service.user('admin', { superuser: true });
      const source = await makeSource(admin, shop);
      const parent = await admin.creates('/datasets', {
        name: 'Orders',
        datasourceId: source.id,
        query: ORDERS_QUERY,
        refresh: true,
      });
      const draft = (await admin.post(`/datasets/${parent.id}/_edit`)).body;
      expect(draft).toMatchObject({ records: 20, isDraft: true });
      expect(draft.esIndex).not.toBe(parent.esIndex);
      expect(await admin.delete(`/datasets/${parent.id}/draft`)).toMatchObject({ status: 204 });
      expect((await admin.put(`/datasets/${parent.id}/draft`, { flow: EXPENSIVE })).body).toMatchObject({
        records: 20,
        flow: EXPENSIVE,
      });
      const again = (await admin.get(`/datasets/${parent.id}/draft`)).body;
      expect((await admin.get(`/datasets/${again.id}/data`)).body._embedded).toEqual(
        (await admin.get(`/datasets/${parent.id}/data`)).body._embedded,
      );
      success(await admin.post(`/datasets/${again.id}/_refresh`, {}));
      expect([await total(admin, again.id), await total(admin, parent.id)]).toEqual([11, 20]);
    } finally {
      await service.close();
    }
  });
});
