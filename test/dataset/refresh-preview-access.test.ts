import { expect, onTestFinished } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { createSource } from '../support/shop-fixture.ts';
import { rowsOf, WORLDS } from './dataset-copy-fixture.ts';
import {
  createSales,
  generationsOf,
  previewMutation,
  previewRefresh,
  promoteMutation,
} from './refresh-preview-fixture.ts';

// Every preview starts a loader process, which takes time on a busy machine.
const { test } = WORLDS[0]!;

test('previews and promotions beyond the quota are refused', async ({ ann, shop, source, service }) => {
  const { id } = await createSales(shop, ann, source);
  const { previewId } = await previewRefresh(ann, id);
  const { config } = service.platform;
  config.TENANT_QUOTA_BYTES = 1;
  onTestFinished(() => {
    config.TENANT_QUOTA_BYTES = 0;
  });
  await expectBody(ann.post(`/datasets/${id}/_promoteRefresh`, { previewId }), 413, {
    message: expect.stringContaining('quota is 1'),
  });
  await expectError(ann.post(`/datasets/${id}/_previewRefresh`), 413);
  config.TENANT_QUOTA_BYTES = 0;
  expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId }), 'the preview still exists').toMatchObject({
    status: 200,
  });
});

test('a preview requires dataset:refresh, the owner’s access to the datasource, and its own dataset', async ({
  admin,
  ann,
  bob,
  stranger,
  anonymous,
  shop,
  source,
  service,
}) => {
  const { id } = await createSales(shop, ann, source, { fieldSecurityEnabled: true });
  const other = await createSales(shop, ann, source);
  const { previewId } = await previewRefresh(ann, id);
  const calls = [
    ['_previewRefresh', {}],
    ['_promoteRefresh', { previewId }],
  ] as const;
  const documents = [previewMutation(id), promoteMutation(id, previewId)];
  const expectRefused = async (who: Client, status: number, message: string) => {
    for (const [path, body] of calls)
      expect(await who.post(`/datasets/${id}/${path}`, body), path).toMatchObject({ status, body: { message } });
    for (const document of documents) expect((await who.gql(document)).errors, document).toMatchObject([{ message }]);
  };
  await expectRefused(bob, 404, `There is no dataset ${id}`);
  await expectRefused(stranger, 404, `There is no dataset ${id}`);
  await expectRefused(anonymous, 401, 'Missing authentication');
  await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 1 });
  await expectRefused(bob, 403, 'You lack the permission dataset:refresh');
  await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 3, restrictFields: true, visibleFields: ['id'] });
  await expectRefused(bob, 403, 'You lack the permission dataset:refresh');

  const unknown = newId();
  for (const [given, at] of [
    [unknown, id],
    ['nonsense', id],
    [previewId, other.id],
  ] as const) {
    await expectError(
      ann.post(`/datasets/${at}/_promoteRefresh`, { previewId: given }),
      404,
      `There is no refresh preview ${given}`,
    );
    expect((await ann.gql(promoteMutation(at, given))).errors).toMatchObject([
      { message: `There is no refresh preview ${given}` },
    ]);
  }
  for (const body of [{}, { previewId: null }, { previewId, colour: 'red' }])
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, body), JSON.stringify(body)).toMatchObject({
      status: 400,
    });
  await expectBody(ann.post(`/datasets/${id}/_previewRefresh`, { params: { area: 'EU' } }), 400, {
    message: expect.stringContaining('"area"'),
  });

  const team = await admin.creates('/teams', { name: 'Previewers' });
  await admin.put(`/teams/${team.id}/members/ann`, { role: 'admin' });
  await ann.put(`/datasets/${id}`, { ownerId: `team:${team.id}` });
  for (const [path, body] of calls)
    expect(await ann.post(`/datasets/${id}/${path}`, body), `${path} without the owner’s access`).toMatchObject({
      status: 403,
    });
  expect(await generationsOf(service)).toContain(previewId);
  const { id: embedded } = await ann.creates('/datasets', {
    name: 'Whole',
    datasourceId: (await createSource(admin, shop, { ownerId: ann.id })).id,
    query: 'select 1 as id',
  });
  expect(await previewRefresh(ann, embedded)).toMatchObject({ records: 1 });
});

test('snapshots cannot be previewed, drafts are previewed independently', async ({ ann, shop, source }) => {
  const { id, change } = await createSales(shop, ann, source);
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Kept' });
  await expectError(ann.post(`/datasets/${snapshot.id}/_previewRefresh`), 409, 'A snapshot keeps its rows');
  const draft = (await ann.put(`/datasets/${id}/draft`, { query: 'select 7 as id' })).body;
  await change();
  const { previewId, records } = await previewRefresh(ann, draft.id);
  expect(records).toBe(1);
  await expectError(ann.post(`/datasets/${id}/_promoteRefresh`, { previewId }), 404);
  await expectBody(ann.post(`/datasets/${draft.id}/_promoteRefresh`, { previewId }), 200, { id: draft.id });
  expect([await rowsOf(ann, draft.id), await rowsOf(ann, id)]).toEqual([[7], [1, 2, 3]]);
});
