import { describe, expect } from 'vitest';
import { expectError } from '../support/expect.ts';
import { expectNoDraft, expectOk, test, total } from './draft-fixture.ts';

describe('access to a draft', () => {
  test('only its owner can read it', async ({ ann, bob, stranger, createOrders }) => {
    const parent = await createOrders();
    const { id } = (await ann.post(`${parent.path}/_edit`)).body;
    for (const other of [bob, stranger]) {
      for (const path of [`/datasets/${id}`, `/datasets/${id}/data`, `/datasets/${id}/user-settings`])
        expect(await other.get(path), path).toMatchObject({ status: 404 });
      expect(await other.gql(`{ dataset(id: "${id}") { name } }`)).toMatchObject({
        errors: [{ extensions: { status: 404 } }],
      });
    }
    await expectNoDraft(bob.get(parent.draft), parent);
    expect((await bob.post(`${parent.path}/_edit`)).body.id).not.toBe(id);
  });

  test('requires write access to the dataset; without read access the draft is not found', async ({
    ann,
    bob,
    createOrders,
  }) => {
    const parent = await createOrders();
    const { id } = (await bob.post(`${parent.path}/_edit`)).body;
    const message = 'You lack the permission dataset:write';
    const filter = await ann.creates(`${parent.path}/filters`, { name: 'EU', criteria: { region: 'EU' } });
    for (const share of [{ accessLevel: 1 }, { accessLevel: 3, datasetFilterId: filter.id }]) {
      await expectOk(ann.put(`${parent.path}/shares/bob`, share));
      await expectError(bob.post(`${parent.path}/_edit`), 403, message);
      await expectError(bob.put(parent.draft, {}), 403, message);
      await expectError(bob.post(`${parent.draft}/_commit`), 403, message);
      expect(await bob.gql(`mutation { editDataset(id: "${parent.id}") { id } }`)).toMatchObject({
        errors: [{ message, extensions: { status: 403 } }],
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
    expect((await ann.delete(`${parent.path}/shares/bob`)).status).toBe(204);
    for (const path of [parent.draft, `/datasets/${id}`, `/datasets/${id}/data`])
      expect(await bob.get(path), path).toMatchObject({ status: 404 });
    await expectError(bob.put(`/datasets/${id}`, { name: 'x' }), 404);
    await expectError(bob.delete(parent.draft), 404);
    await expectOk(ann.put(`${parent.path}/shares/bob`, { accessLevel: 1 }));
    expect((await bob.delete(parent.draft)).status).toBe(204);
  });

  test('a draft is deleted with its dataset, and with its owner', async ({ service, admin, ann, createOrders }) => {
    const eve = await service.user('eve');
    const parent = await createOrders();
    await ann.put(`${parent.path}/shares/eve`, { accessLevel: 2 });
    const drafts = [(await ann.post(`${parent.path}/_edit`)).body.id, (await eve.post(`${parent.path}/_edit`)).body.id];
    const remainingDrafts = async () =>
      (
        await service.platform.system.query<{ id: string }>({
          text: 'select id from dws.dataset where id = any($1)',
          values: [drafts],
        })
      ).map(({ id }) => id);
    await admin.post(`${parent.path}/_edit`);
    expect((await admin.delete('/users/eve')).status).toBe(204);
    expect(await remainingDrafts()).toEqual([drafts[0]]);
    expect((await ann.delete(parent.path)).status).toBe(204);
    expect(await remainingDrafts()).toEqual([]);
  });
});
