import { describe, expect } from 'vitest';
import type { Generation } from '../../src/core/dataset-index.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { UNKNOWN } from '../conformance/calls.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { makeSource, ORDERS_QUERY } from '../support/shop-fixture.ts';
import { expectNoDraft, expectOk, EXPENSIVE, test, total } from './draft-fixture.ts';

describe('replacing a draft', () => {
  test('creates a draft from the dataset with the changes, and deletes the former one', async ({
    ann,
    source,
    createOrders,
  }) => {
    const parent = await createOrders();
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
    await expectOk(ann.put(`/datasets/${first.body.id}`, { description: 'lost' }));

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
    await expectError(ann.get(`/datasets/${first.body.id}`), 404);
    expect((await ann.get(parent.path)).body).toMatchObject({
      name: 'Orders',
      query: ORDERS_QUERY,
      flow: [],
      settings: { color: 'red' },
    });

    const { updateDatasetDraft: third } = await ann.data(
      `
        mutation {
          updateDatasetDraft(id: "${parent.id}", input: { query: "select 2 as two", description: "Third" }) {
            id query queryId name description
          }
        }
      `,
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

  test('accepts a draft as it was returned', async ({ ann, createOrders }) => {
    const parent = await createOrders();
    const { body } = await ann.post(`${parent.path}/_edit`);
    const sent = await ann.put(parent.draft, { ...body, flow: EXPENSIVE });
    expect(sent).toMatchObject({ status: 200, body: { flow: EXPENSIVE, query: ORDERS_QUERY, fields: body.fields } });
    expect(sent.body.id).not.toBe(body.id);
  });

  test('keeps the existing draft on failure', async ({ ann, bob, source, createOrders }) => {
    const parent = await createOrders();
    const { id } = (await bob.post(`${parent.path}/_edit`)).body;
    await expectBody(bob.put(parent.draft, { flow: [{ type: 'shuffle' }] }), 400, {
      message: expect.stringContaining('shuffle'),
    });
    await expectError(bob.put(parent.draft, { flow: 'x' }), 400);
    await expectError(bob.put(parent.draft, { queryId: UNKNOWN }), 404, `There is no query ${UNKNOWN}`);
    await expectBody(bob.put(parent.draft, { fields: [{ name: 'colour', label: 'x' }] }), 400, {
      message: expect.stringContaining('colour'),
    });
    await expectError(
      bob.put(parent.draft, { query: 'select {{x}}', params: [] }),
      404,
      `There is no datasource ${source.id}`,
    );
    expect(
      await bob.gql(`mutation { updateDatasetDraft(id: "${parent.id}", input: { queryId: "${UNKNOWN}" }) { id } }`),
    ).toMatchObject({ errors: [{ extensions: { status: 404 } }] });
    await expectBody(ann.put(parent.draft, { query: 'select {{x}}', params: [] }), 400, {
      message: expect.stringContaining('x'),
    });
    expect((await bob.get(parent.draft)).body.id).toBe(id);
    await expectNoDraft(ann.get(parent.draft), parent);
  });
});

describe('the rows of a draft', () => {
  test('are cloned without a load, and the janitor keeps them before the draft is committed', async ({
    service,
    ann,
    createOrders,
  }) => {
    const { platform } = service;
    const parent = await createOrders();
    const clone = platform.index.clone.bind(platform.index);
    const cloned: Generation[] = [];
    platform.index.clone = async (from, id) => {
      const generation = await clone(from, id);
      await sweepGenerations(platform, { replacedAge: 0, orphanAge: 0 });
      cloned.push(generation);
      return generation;
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

  test('are deleted after the draft, and when its creation fails', async ({ service, ann, createOrders }) => {
    const { platform } = service;
    const parent = await createOrders();
    const { esIndex } = (await ann.post(`${parent.path}/_edit`)).body;
    expect((await ann.delete(parent.draft)).status).toBe(204);
    await expectError(ann.put(parent.draft, { flow: [{ type: 'shuffle' }] }), 400);
    await sweepGenerations(platform, { replacedAge: 0, orphanAge: 0 });
    const [row] = await platform.system.query<{ ids: string[] }>({
      text: 'select array_agg(generation_id) as ids from dws.dataset where generation_id is not null',
    });
    const present = (await platform.index.generations()).map(({ id }) => id);
    expect(present).not.toContain(esIndex);
    expect(present.toSorted()).toEqual(row!.ids.toSorted());
    expect(await total(ann, parent.id)).toBe(20);
  });

  test.skipIf(!HAS_ELASTICSEARCH)('are cloned in Elasticsearch too', { timeout: 120_000 }, async ({ shop }) => {
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
      expect((await admin.delete(`/datasets/${parent.id}/draft`)).status).toBe(204);
      expect((await admin.put(`/datasets/${parent.id}/draft`, { flow: EXPENSIVE })).body).toMatchObject({
        records: 20,
        flow: EXPENSIVE,
      });
      const again = (await admin.get(`/datasets/${parent.id}/draft`)).body;
      expect((await admin.get(`/datasets/${again.id}/data`)).body._embedded).toEqual(
        (await admin.get(`/datasets/${parent.id}/data`)).body._embedded,
      );
      await expectOk(admin.post(`/datasets/${again.id}/_refresh`, {}));
      expect([await total(admin, again.id), await total(admin, parent.id)]).toEqual([11, 20]);
    } finally {
      await service.close();
    }
  });
});
