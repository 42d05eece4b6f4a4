import { describe, expect } from 'vitest';
import { readActivities } from '../support/activity.ts';
import { recordEvents } from '../support/audit-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { actBeforeStatement } from '../support/round-trips.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

/** Creates a dataset of the orders of the shop, with its rows. */
const createOrders = (client: Client, source: { id: string }, name: string) =>
  client.creates('/datasets', { name, datasourceId: source.id, query: ORDERS_QUERY, refresh: true });

/** The shop with a dataset of its orders, and a filter that ann owns. */
const test = base.extend<{ orders: { id: string }; big: { id: string } }>({
  orders: [async ({ ann, source }, use) => use(await createOrders(ann, source, 'Orders')), { scope: 'file' }],
  big: [
    async ({ ann, orders }, use) =>
      use(await ann.creates(`/datasets/${orders.id}/filters`, { name: 'Big', criteria: { amount: { $gte: 100 } } })),
    { scope: 'file' },
  ],
});

const rowIdsOf = (body: { _embedded: Record<string, { id: number }[]> }) =>
  body._embedded['svc:record']!.map(({ id }) => id);

describe('a saved filter', () => {
  test('is owned by the caller by default, and visible to its owner only', async ({
    ann,
    bob,
    admin,
    stranger,
    orders,
  }) => {
    const path = `/datasets/${orders.id}/filters`;
    const created = await ann.post(path, { name: 'European', description: 'of the EU', criteria: { region: 'EU' } });
    expect(created).toMatchObject({
      status: 200,
      body: {
        name: 'European',
        description: 'of the EU',
        datasetId: orders.id,
        ownerId: `user:${ann.id}`,
        owner: { id: `user:${ann.id}`, name: 'ann', type: 'user' },
        criteria: { region: 'EU' },
        problem: null,
        permissions: { edit: true, delete: true },
      },
    });
    const filterPath = `${path}/${created.body.id}`;
    expect(created.body._links).toMatchObject({
      self: { href: `/api${filterPath}` },
      'svc:dataset': { href: `/api/datasets/${orders.id}` },
      'svc:data': { href: `/api/datasets/${orders.id}/data?filter=${created.body.id}` },
    });
    await ann.put(`/datasets/${orders.id}/shares/bob`, { accessLevel: 3 });
    await expectError(bob.get(filterPath), 404, `There is no filter ${created.body.id}`);
    await expectBody(bob.get(path), 200, { total: 0 });
    await expectError(bob.put(filterPath, { name: 'mine' }), 404);
    await expectError(
      bob.get(`/datasets/${orders.id}/data?filter=${created.body.id}`),
      404,
      `There is no filter ${created.body.id}`,
    );
    await expectError(stranger.get(filterPath), 404);
    await expectBody(admin.get(filterPath), 200, { permissions: { edit: true, delete: true } });
    await expectBody(ann.put(filterPath, { name: 'EU', description: null, ownerId: `user:${ann.id}` }), 200, {
      name: 'EU',
      description: null,
      criteria: { region: 'EU' },
    });
    await expectError(ann.put(filterPath, { ownerId: `user:${bob.id}` }), 400);
    expect(await ann.delete(filterPath)).toMatchObject({ status: 204, body: '' });
    await expectError(ann.get(filterPath), 404);
    await ann.delete(`/datasets/${orders.id}/shares/bob`);
  });

  test('can be used by id in every filter parameter', async ({ ann, orders, big }) => {
    const path = `/datasets/${orders.id}`;
    const inline = encodeURIComponent(JSON.stringify({ amount: { $gte: 100 } }));
    const expected = rowIdsOf((await ann.get(`${path}/data?filter=${inline}`)).body);
    expect(expected).toHaveLength(11);
    expect(rowIdsOf((await ann.get(`${path}/data?filter=${big.id}`)).body)).toEqual(expected);
    expect(rowIdsOf((await ann.post(`${path}/_search`, { filter: big.id })).body)).toEqual(expected);
    expect((await ann.get(`${path}/discover?fields=amount&filter=${big.id}`)).body.total).toBe(11);
    expect(
      (await ann.post(`${path}/_aggregate`, { measures: [{ fn: 'count', as: 'n' }], filter: big.id })).body.rows,
    ).toEqual([[11]]);
    expect((await ann.get(`${path}/export?format=ndjson&filter=${big.id}`)).body.trim().split('\n')).toHaveLength(11);
    expect(
      (
        await ann.data(
          `
            {
              dataset(id: "${orders.id}") {
                data(filter: "${big.id}") { total } discover(filter: "${big.id}") { total }
              }
            }
          `,
        )
      ).dataset,
    ).toEqual({ data: { total: 11 }, discover: { total: 11 } });
    await expectError(ann.get(`${path}/data?filter=${UNKNOWN_ID}`), 404, `There is no filter ${UNKNOWN_ID}`);
  });

  test('belongs to one dataset', async ({ ann, source, big }) => {
    const other = await createOrders(ann, source, 'Others');
    await expectError(ann.get(`/datasets/${other.id}/data?filter=${big.id}`), 404, `There is no filter ${big.id}`);
    await expectError(ann.get(`/datasets/${other.id}/filters/${big.id}`), 404);
    await expectError(
      ann.put(`/datasets/${other.id}/filters/${big.id}`, { name: 'x' }),
      404,
      `There is no filter ${big.id}`,
    );
    await expectError(ann.put(`/datasets/${other.id}/shares/bob`, { accessLevel: 1, datasetFilterId: big.id }), 404);
  });

  test('is refused when its criteria are invalid', async ({ ann, orders }) => {
    const path = `/datasets/${orders.id}/filters`;
    await expectError(ann.post(path, { name: 'x', criteria: { colour: 'red' } }), 400, 'Unknown field "colour"');
    await expectBody(ann.post(path, { name: 'x', criteria: { amount: 'red' } }), 400, {
      message: expect.stringContaining('"amount"'),
    });
    await expectBody(ann.post(path, { name: 'x' }), 400, { message: expect.stringContaining('criteria') });
    await expectBody(ann.post(path, { criteria: {} }), 400, { message: expect.stringContaining('name') });
    await expectBody(ann.post(path, { name: 'x', criteria: {}, colour: 1 }), 400, {
      message: expect.stringContaining('colour'),
    });
    expect((await ann.get(path)).body._embedded['svc:filter'].map(({ name }: { name: string }) => name)).not.toContain(
      'x',
    );
  });

  test('of a team can be used by members, and changed from memberPlus on', async ({ admin, ann, bob, orders }) => {
    const team = await admin.creates('/teams', { name: 'Filterers' });
    const path = `/datasets/${orders.id}/filters`;
    await expectError(ann.post(path, { name: 'x', criteria: {}, ownerId: `team:${team.id}` }), 403);
    await admin.put(`/teams/${team.id}/members/ann`, { role: 'memberPlus' });
    await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
    await ann.put(`/datasets/${orders.id}/shares/bob`, { accessLevel: 1 });
    const filter = await ann.creates(path, { name: 'Ours', criteria: { region: 'EU' }, ownerId: `team:${team.id}` });
    const filterPath = `${path}/${filter.id}`;
    await expectBody(bob.get(filterPath), 200, {
      ownerId: `team:${team.id}`,
      owner: { id: `team:${team.id}`, name: 'Filterers', type: 'team' },
      permissions: { edit: false, delete: false },
    });
    expect((await bob.get(`/datasets/${orders.id}/data?filter=${filter.id}`)).body.total).toBe(5);
    await expectError(bob.put(filterPath, { name: 'x' }), 403, 'You lack the permission filter:edit');
    await expectError(bob.delete(filterPath), 403);
    await expectError(bob.put(`${filterPath}/owner`, { ownerId: bob.id }), 403);
    expect((await ann.get(`${filterPath}/owner`)).body).toEqual({
      id: `team:${team.id}`,
      name: 'Filterers',
      type: 'team',
      description: null,
    });
    await expectBody(ann.put(`${filterPath}/owner`, { ownerId: 'bob' }), 200, {
      id: filter.id,
      name: 'Ours',
      ownerId: `user:${bob.id}`,
      owner: { id: `user:${bob.id}`, name: 'bob', type: 'user' },
    });
    expect((await bob.get(`${filterPath}/owner`)).body).toEqual({
      id: `user:${bob.id}`,
      name: 'bob',
      type: 'user',
      email: null,
    });
    await expectError(ann.get(filterPath), 404);
    expect((await bob.put(filterPath, { name: 'Mine' })).body.name).toBe('Mine');
    await ann.delete(`/datasets/${orders.id}/shares/bob`);
    await expectError(bob.get(filterPath), 404, `There is no dataset ${orders.id}`);
    expect((await bob.get('/dataset-filters')).body.total).toBe(0);
  });

  test('is listed across datasets', async ({ ann, orders, big, source }) => {
    const other = await createOrders(ann, source, 'Further');
    const filter = await ann.creates(`/datasets/${other.id}/filters`, {
      name: 'Small',
      criteria: { amount: { $lt: 5 } },
    });
    const namesOf = async (query: string) =>
      (await ann.get(`/dataset-filters${query}`)).body._embedded['svc:filter'].map(
        ({ name, dataset }: { name: string; dataset: { name: string } }) => [name, dataset.name],
      );
    expect(await namesOf('')).toEqual([
      ['Big', 'Orders'],
      ['Small', 'Further'],
    ]);
    expect(await namesOf(`?datasets=${other.id}`)).toEqual([['Small', 'Further']]);
    expect(await namesOf(`?datasets=${other.id}&datasets=${orders.id}`)).toEqual([
      ['Big', 'Orders'],
      ['Small', 'Further'],
    ]);
    await expectError(ann.get(`/dataset-filters?datasets=${orders.id},nonsense`), 404, /nonsense/);
    expect(
      await ann.data(
        `
          {
            savedFilters(datasets: ["${orders.id}"]) { items { id dataset { name } } total }
            dataset(id: "${orders.id}") { filters { id } filter(id: "${big.id}") { name criteria owner { id qualifiedId } } }
          }
        `,
      ),
    ).toEqual({
      savedFilters: { items: [{ id: big.id, dataset: { name: 'Orders' } }], total: 1 },
      dataset: {
        filters: [{ id: big.id }],
        filter: {
          name: 'Big',
          criteria: { amount: { $gte: 100 } },
          owner: { id: ann.id, qualifiedId: `user:${ann.id}` },
        },
      },
    });
    expect((await ann.delete(`/datasets/${other.id}`)).status).toBe(204);
    expect(await namesOf('')).toEqual([['Big', 'Orders']]);
    expect(filter.datasetId).toBe(other.id);
  });

  test('works the same in GraphQL, and is not updated with an outdated If-Match', async ({ ann, orders }) => {
    const { createSavedFilter: created } = await ann.data(
      `
        mutation {
          createSavedFilter(datasetId: "${orders.id}", input: { name: "American", criteria: { region: "US" } }) {
            id criteria ownerId permissions { edit delete }
          }
        }
      `,
    );
    expect(created).toMatchObject({
      criteria: { region: 'US' },
      ownerId: `user:${ann.id}`,
      permissions: { edit: true, delete: true },
    });
    const filterPath = `/datasets/${orders.id}/filters/${created.id}`;
    const { headers } = await ann.get(filterPath);
    expect(
      (
        await ann.data(
          `
            mutation {
              updateSavedFilter(datasetId: "${orders.id}", id: "${created.id}", input: { name: "US" }) {
                name criteria
              }
            }
          `,
        )
      ).updateSavedFilter,
    ).toEqual({ name: 'US', criteria: { region: 'US' } });
    await expectError(ann.put(filterPath, { name: 'late' }, { 'if-match': headers.get('etag')! }), 412);
    expect(
      (
        await ann.data(
          `
            mutation {
              setSavedFilterOwner(datasetId: "${orders.id}", id: "${created.id}", ownerId: "bob") { owner { name } }
            }
          `,
        )
      ).setSavedFilterOwner,
    ).toEqual({ owner: { name: 'bob' } });
    expect(
      await ann.gql(`mutation { deleteSavedFilter(datasetId: "${orders.id}", id: "${created.id}") }`),
    ).toMatchObject({
      errors: [{ extensions: { code: 'NOT_FOUND' } }],
    });
  });

  test('that is deleted during its update is not found, and no update is recorded', async ({
    service,
    ann,
    orders,
  }) => {
    const filters = `/datasets/${orders.id}/filters`;
    const updates = {
      REST: async (id: string) => (await ann.put(`${filters}/${id}`, { name: 'late' })).body,
      GraphQL: async (id: string) => {
        const update = `updateSavedFilter(datasetId: "${orders.id}", id: "${id}", input: { name: "late" }) { id }`;
        const [{ message, extensions }] = (await ann.gql(`mutation { ${update} }`)).errors;
        return { message, code: extensions.code };
      },
    };
    for (const [api, update] of Object.entries(updates)) {
      const { id } = await ann.creates(filters, { name: `Lost by ${api}`, criteria: {} });
      const remove = () => systemQuery(service, 'delete from dws.saved_filter where id = $1', id);
      const activities = await readActivities(ann, `/datasets/${orders.id}`);
      let failure: unknown;
      const events = await recordEvents(service, async () => {
        failure = await actBeforeStatement('update "dws"."saved_filter"', remove, () => update(id));
      });
      expect(failure, api).toMatchObject({ code: 'NOT_FOUND', message: `There is no filter ${id}` });
      expect(events, api).toEqual([]);
      expect(await readActivities(ann, `/datasets/${orders.id}`), api).toEqual(activities);
    }
  });

  test('with a removed field has a problem, fails queries, and lets shares show no rows', async ({
    ann,
    bob,
    admin,
    source,
  }) => {
    const dataset = await createOrders(ann, source, 'Shrinking');
    const path = `/datasets/${dataset.id}`;
    const filter = await ann.creates(`${path}/filters`, { name: 'By region', criteria: { region: 'EU' } });
    await ann.put(`${path}/shares/bob`, { accessLevel: 1, datasetFilterId: filter.id });
    expect((await bob.get(`${path}/data`)).body.total).toBe(5);
    await ann.put(path, { query: 'select id, amount from orders' });
    expect((await ann.post(`${path}/_refresh`)).status).toBe(200);
    await expectBody(ann.get(`${path}/filters/${filter.id}`), 200, {
      criteria: { region: 'EU' },
      problem: 'Unknown field "region"',
    });
    await expectError(
      ann.get(`${path}/data?filter=${filter.id}`),
      400,
      'The saved filter "By region" does not fit the dataset: Unknown field "region"',
    );
    await expectBody(bob.get(`${path}/data`), 200, { total: 0, _embedded: { 'svc:record': [] } });
    expect((await bob.get(path)).body.records).toBe(0);
    const notifications = (await ann.get('/notifications?read=false')).body._embedded['svc:notification'];
    expect(notifications).toMatchObject([
      {
        type: 'dataset.filter.broken',
        resource: { kind: 'dataset', id: dataset.id },
        message:
          'A share of Shrinking no longer shows any rows: ' +
          'the saved filter By region does not fit its fields (Unknown field "region")',
      },
    ]);
    // There is one notification: a refresh that changes no field does not notify again.
    await ann.post(`${path}/_refresh`);
    expect((await ann.get('/notifications')).body.total).toBe(1);
    expect((await admin.get('/notifications')).body.total).toBe(0);
    await ann.put(path, { query: ORDERS_QUERY });
    await ann.post(`${path}/_refresh`);
    expect((await bob.get(`${path}/data`)).body.total).toBe(5);
  });
});
