import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import {
  expectNoDraft,
  expectOk,
  EXPENSIVE,
  isStale,
  labelsOf,
  SELECTED,
  test,
  total,
  type DraftedDataset,
} from './draft-fixture.ts';

describe('committing a draft', () => {
  test('applies the draft to the dataset, deletes the draft and records an activity event', async ({
    ann,
    bob,
    createOrders,
  }) => {
    const parent = await createOrders();
    const query = `select ${SELECTED}, amount * 2 as double from orders where amount > {{least}}`;
    const params = [
      { name: 'least', label: 'Least', dataType: 'number', defaultValue: 50, required: false, description: null },
    ];
    const { id } = (await ann.put(parent.draft, { query, params, flow: EXPENSIVE, settings: { color: 'green' } })).body;
    await expectOk(ann.put(`/datasets/${id}`, { fields: [{ name: 'amount', label: 'Money' }] }));
    await expectOk(ann.post(`/datasets/${id}/_refresh`, {}));
    const draft = (await ann.get(parent.draft)).body;
    const version = (await ann.get(parent.path)).headers.get('etag')!;

    const committed = await ann.post(`${parent.draft}/_commit`);
    expect(committed).toMatchObject({
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
    expect(labelsOf(committed.body.fields)).toEqual(['id id', 'region region', 'amount Money', 'double double']);
    expect((await ann.get(parent.path)).body).toEqual(committed.body);
    await expectError(ann.with({ 'if-match': version }).put(parent.path, { name: 'x' }), 412);
    await expectNoDraft(ann.get(parent.draft), parent);
    await expectError(ann.get(`/datasets/${id}`), 404);

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
    ).toEqual([{ type: 'DATASET_DRAFT_COMMITTED', message: 'ann committed a draft of Orders', userId: ann.id }]);

    expect(await total(ann, parent.id)).toBe(20);
    await expectOk(ann.post(`${parent.path}/_refresh`, {}));
    expect((await ann.get(`${parent.path}/data?sort=id&limit=1`)).body).toMatchObject({
      total: 11,
      _embedded: { 'svc:record': [{ id: 10, double: 200 }] },
    });
  });

  test('deletes the settings of all users for the dataset by default', async ({ ann, bob, createOrders }) => {
    const parent = await createOrders();
    const other = await createOrders();
    const saveSettings = async () => {
      for (const client of [ann, bob])
        for (const { path } of [parent, other])
          await expectOk(client.put(`${path}/user-settings`, { settings: { wide: true } }));
    };
    const hasSettings = async ({ path }: DraftedDataset) => [
      (await ann.get(path)).body.hasUserSettings,
      (await bob.get(path)).body.hasUserSettings,
    ];
    const edit = () => ann.post(`${parent.path}/_edit`);
    await saveSettings();
    await edit();
    await expectBody(ann.post(`${parent.draft}/_commit`, { clearAllUserSettings: false }), 200, {
      hasUserSettings: true,
    });
    expect(await hasSettings(parent)).toEqual([true, true]);
    expect((await edit()).body.hasUserSettings).toBe(true);
    await expectBody(ann.post(`${parent.draft}/_commit`, {}), 200, { hasUserSettings: false });
    expect([await hasSettings(parent), await hasSettings(other)]).toEqual([
      [false, false],
      [true, true],
    ]);

    await saveSettings();
    const committed = async (more: string) => (
      await edit(),
      (await ann.data(`mutation { commitDatasetDraft(id: "${parent.id}"${more}) { id hasUserSettings } }`))
        .commitDatasetDraft
    );
    expect(await committed(', clearAllUserSettings: false')).toEqual({ id: parent.id, hasUserSettings: true });
    expect(await committed('')).toEqual({ id: parent.id, hasUserSettings: false });
    expect(await hasSettings(parent)).toEqual([false, false]);
    await expectError(ann.post(`${parent.draft}/_commit`, { clearAllUserSettings: 'no' }), 400);
  });

  test('keeps the drafts of other users, which become stale', async ({ ann, bob, createOrders }) => {
    const parent = await createOrders();
    const { id } = (await bob.put(parent.draft, { settings: { color: 'yellow' } })).body;
    await ann.put(parent.draft, { flow: EXPENSIVE });
    expect([await isStale(ann, parent), await isStale(bob, parent)]).toEqual([false, false]);
    await expectOk(ann.post(`${parent.draft}/_commit`));
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

  test('changes the name and description only if the draft did, and keeps fields that were added since', async ({
    ann,
    shop,
    createOrders,
  }) => {
    const parent = await createOrders({ query: 'select * from orders' });
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    await expectOk(ann.put(`/datasets/${id}`, { description: 'mine', fields: [{ name: 'amount', label: 'Money' }] }));
    await shop.sql('alter table orders add extra integer');
    await expectOk(ann.post(`${parent.path}/_refresh`, {}));
    await shop.sql('alter table orders drop extra');
    await expectOk(ann.put(parent.path, { name: 'Renamed' }));
    const { body } = await ann.post(`${parent.draft}/_commit`);
    expect(body).toMatchObject({ name: 'Renamed', description: 'mine' });
    expect(labelsOf(body.fields)).toEqual([
      'id id',
      'region region',
      'amount Money',
      'ordered_on ordered_on',
      'note note',
      'extra extra',
    ]);
  });

  test('requires access to the datasource of a new query, and otherwise changes nothing', async ({
    ann,
    bob,
    source,
    createOrders,
  }) => {
    const parent = await createOrders();
    await expectOk(bob.put(parent.draft, { flow: EXPENSIVE }));
    await expectOk(ann.put(parent.path, { query: 'select 1 as amount' }));
    await expectError(bob.post(`${parent.draft}/_commit`), 404, `There is no datasource ${source.id}`);
    expect((await ann.get(parent.path)).body).toMatchObject({ query: 'select 1 as amount', flow: [] });
    expect((await bob.get(parent.draft)).body).toMatchObject({ flow: EXPENSIVE });
    await ann.put(`/datasources/${source.id}/shares/bob`, { accessLevel: 2 });
    expect((await bob.post(`${parent.draft}/_commit`)).body).toMatchObject({ query: ORDERS_QUERY, flow: EXPENSIVE });
    await ann.delete(`/datasources/${source.id}/shares/bob`);
  });

  test('notifies the owner about filters that no longer fit', async ({ ann, bob, createOrders }) => {
    const parent = await createOrders();
    const filter = await ann.creates(`${parent.path}/filters`, {
      name: 'Noted',
      criteria: { note: { $exists: true } },
    });
    await ann.put(`${parent.path}/shares/bob`, { accessLevel: 1, datasetFilterId: filter.id });
    const { id } = (await ann.put(parent.draft, { query: `select ${SELECTED} from orders` })).body;
    await expectOk(ann.post(`/datasets/${id}/_refresh`, {}));
    await expectOk(ann.post(`${parent.draft}/_commit`));
    expect((await ann.get('/notifications?limit=1')).body._embedded['svc:notification']).toMatchObject([
      { type: 'dataset.filter.broken', message: expect.stringContaining('Noted') },
    ]);
    expect(await total(bob, parent.id)).toBe(0);
  });
});
