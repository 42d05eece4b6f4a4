import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

/** The shop with a dataset of ann's. */
const test = base.extend<{ orders: { id: string } }>({
  orders: [
    async ({ ann, source }, use) =>
      use(
        await ann.creates('/datasets', { name: 'Orders', datasourceId: source.id, query: ORDERS_QUERY, refresh: true }),
      ),
    { scope: 'file' },
  ],
});

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const settingsQuery = (id: string) =>
  `{ dataset(id: "${id}") { hasUserSettings userSettings { settings updatedAt } } }`;

describe('user settings', () => {
  test('are empty at first, replaced as a whole, and deleted', async ({ ann, orders }) => {
    const path = `/datasets/${orders.id}/user-settings`;
    await expectBody(ann.get(path), 200, { settings: {}, updatedAt: null });
    expect((await ann.data(settingsQuery(orders.id))).dataset).toEqual({
      hasUserSettings: false,
      userSettings: { settings: {}, updatedAt: null },
    });

    await expectBody(ann.put(path, { settings: { columns: ['id'], page: { size: 50 } } }), 200, {
      settings: { columns: ['id'], page: { size: 50 } },
      updatedAt: TIME,
    });
    const put = await ann.put(path, { settings: { columns: [] } });
    expect(put.body).toEqual({ settings: { columns: [] }, updatedAt: TIME });
    expect((await ann.get(path)).body).toEqual(put.body);
    expect((await ann.data(settingsQuery(orders.id))).dataset).toEqual({
      hasUserSettings: true,
      userSettings: put.body,
    });
    expect((await ann.get(`/datasets/${orders.id}`)).body.hasUserSettings).toBe(true);
    expect((await ann.get('/datasets')).body._embedded['svc:dataset']).toMatchObject([
      { id: orders.id, hasUserSettings: true },
    ]);

    await expectBody(ann.put(path, put.body), 200, { settings: { columns: [] } });
    expect(await ann.delete(path)).toMatchObject({ status: 204, body: '' });
    expect(await ann.delete(path)).toMatchObject({ status: 204, body: '' });
    expect((await ann.get(path)).body).toEqual({ settings: {}, updatedAt: null });
    expect((await ann.get(`/datasets/${orders.id}`)).body.hasUserSettings).toBe(false);
  });

  test('work the same in GraphQL', async ({ ann, orders }) => {
    const saved = await ann.data(
      `mutation { setDatasetUserSettings(id: "${orders.id}", settings: { dark: true }) { settings updatedAt } }`,
    );
    expect(saved.setDatasetUserSettings).toEqual({ settings: { dark: true }, updatedAt: TIME });
    expect((await ann.data(settingsQuery(orders.id))).dataset).toEqual({
      hasUserSettings: true,
      userSettings: saved.setDatasetUserSettings,
    });
    expect(await ann.data(`mutation { deleteDatasetUserSettings(id: "${orders.id}") }`)).toEqual({
      deleteDatasetUserSettings: orders.id,
    });
    expect((await ann.data(settingsQuery(orders.id))).dataset.hasUserSettings).toBe(false);
    expect(await ann.gql(`mutation { deleteDatasetUserSettings(id: "${UNKNOWN_ID}") }`)).toMatchObject({
      errors: [{ message: `There is no dataset ${UNKNOWN_ID}`, extensions: { status: 404 } }],
    });
  });

  test('are an object of at most 100 kB', async ({ ann, orders }) => {
    const path = `/datasets/${orders.id}/user-settings`;
    for (const settings of [[], 'text', 1, null])
      expect(await ann.put(path, { settings }), JSON.stringify(settings)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('settings') },
      });
    await expectError(ann.put(path, {}), 400, '"settings" is required');
    const settingsOf = (bytes: number) => ({ x: 'x'.repeat(bytes - '{"x":""}'.length) });
    await expectError(
      ann.put(path, { settings: settingsOf(100_001) }),
      400,
      'settings must have at most 100 kB as JSON',
    );
    expect(
      await ann.gql(
        'mutation ($settings: JSONObject!) { setDatasetUserSettings(id: "orders", settings: $settings) { updatedAt } }',
        { settings: settingsOf(100_001) },
      ),
    ).toMatchObject({ errors: [{ extensions: { status: 400 } }] });
    expect((await ann.get(path)).body).toEqual({ settings: {}, updatedAt: null });
    expect((await ann.put(path, { settings: settingsOf(100_000) })).status).toBe(200);
    await ann.delete(path);
  });

  test('are visible to one user only, and available to restricted readers', async ({
    ann,
    bob,
    admin,
    stranger,
    orders,
  }) => {
    const path = `/datasets/${orders.id}/user-settings`;
    await ann.put(path, { settings: { whose: 'ann' } });
    await expectError(bob.put(path, { settings: {} }), 404);
    await expectError(stranger.get(path), 404);
    expect((await admin.get(path)).body).toEqual({ settings: {}, updatedAt: null });

    const { id: datasetFilterId } = await ann.creates(`/datasets/${orders.id}/filters`, {
      name: 'EU',
      criteria: { region: 'EU' },
    });
    await ann.put(`/datasets/${orders.id}/shares/bob`, { accessLevel: 1, datasetFilterId });
    expect((await bob.get(path)).body).toEqual({ settings: {}, updatedAt: null });
    expect((await bob.put(path, { settings: { whose: 'bob' } })).status).toBe(200);
    expect((await ann.get(path)).body.settings).toEqual({ whose: 'ann' });
    expect((await bob.get(`/datasets/${orders.id}`)).body.hasUserSettings).toBe(true);
    expect((await admin.get(`/datasets/${orders.id}`)).body.hasUserSettings).toBe(false);
    await ann.delete(path);
    expect((await bob.get(path)).body.settings).toEqual({ whose: 'bob' });
  });

  test('can be saved concurrently', async ({ ann, orders }) => {
    const path = `/datasets/${orders.id}/user-settings`;
    const responses = await Promise.all([1, 2, 3, 4].map((n) => ann.put(path, { settings: { n } })));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await ann.get(path)).body.settings).toEqual({ n: expect.any(Number) });
    await ann.delete(path);
  });

  test('of a draft are the settings of its dataset', async ({ ann, orders }) => {
    const draft = (await ann.post(`/datasets/${orders.id}/_edit`)).body;
    expect(draft.hasUserSettings).toBe(false);
    expect((await ann.put(`/datasets/${draft.id}/user-settings`, { settings: { from: 'draft' } })).status).toBe(200);
    expect((await ann.get(`/datasets/${orders.id}/user-settings`)).body.settings).toEqual({ from: 'draft' });
    expect((await ann.get(`/datasets/${draft.id}/user-settings`)).body.settings).toEqual({ from: 'draft' });
    expect((await ann.get(`/datasets/${orders.id}/draft`)).body.hasUserSettings).toBe(true);
    expect((await ann.data(settingsQuery(draft.id))).dataset.hasUserSettings).toBe(true);
    await ann.delete(`/datasets/${draft.id}/user-settings`);
    expect((await ann.get(`/datasets/${orders.id}`)).body.hasUserSettings).toBe(false);
  });

  test('are deleted with the dataset and with the user', async ({ service, admin, ann, source }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Short-lived',
      datasourceId: source.id,
      query: ORDERS_QUERY,
    });
    const eve = await service.user('eve');
    await ann.put(`/datasets/${id}/shares/eve`, { accessLevel: 1 });
    for (const client of [ann, eve]) await client.put(`/datasets/${id}/user-settings`, { settings: { a: 1 } });
    const remaining = () =>
      service.platform.system.query({
        text: 'select user_id as "userId" from dws.user_setting where dataset_id = $1',
        values: [id],
      });
    expect(await remaining()).toHaveLength(2);
    expect((await admin.delete('/users/eve')).status).toBe(204);
    expect(await remaining()).toEqual([{ userId: ann.id }]);
    expect((await ann.delete(`/datasets/${id}`)).status).toBe(204);
    expect(await remaining()).toEqual([]);
  });
});
