import { describe, expect } from 'vitest';
import type { Generation } from '../../src/core/dataset-index.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { expectError } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { createSource, ORDERS_QUERY } from '../support/shop-fixture.ts';
import { expectOk, EXPENSIVE, test, total } from './draft-fixture.ts';

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

  test.skipIf(!HAS_ELASTICSEARCH)('are cloned in Elasticsearch too', async ({ shop }) => {
    const service = await startService({ ELASTICSEARCH_URL: (await elasticsearch()).url });
    try {
      const admin = await service.user('admin', { superuser: true });
      const source = await createSource(admin, shop);
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
