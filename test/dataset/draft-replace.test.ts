import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { expectNoDraft, expectOk, EXPENSIVE, test } from './draft-fixture.ts';

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
    await expectError(bob.put(parent.draft, { queryId: UNKNOWN_ID }), 404, `There is no query ${UNKNOWN_ID}`);
    await expectBody(bob.put(parent.draft, { fields: [{ name: 'colour', label: 'x' }] }), 400, {
      message: expect.stringContaining('colour'),
    });
    await expectError(
      bob.put(parent.draft, { query: 'select {{x}}', params: [] }),
      404,
      `There is no datasource ${source.id}`,
    );
    expect(
      await bob.gql(`mutation { updateDatasetDraft(id: "${parent.id}", input: { queryId: "${UNKNOWN_ID}" }) { id } }`),
    ).toMatchObject({ errors: [{ extensions: { status: 404 } }] });
    await expectBody(ann.put(parent.draft, { query: 'select {{x}}', params: [] }), 400, {
      message: expect.stringContaining('x'),
    });
    expect((await bob.get(parent.draft)).body.id).toBe(id);
    await expectNoDraft(ann.get(parent.draft), parent);
  });
});
