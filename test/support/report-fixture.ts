import { expect } from 'vitest';
import type { Generation } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import type { Client } from './client.ts';
import type { Service } from './service.ts';
import { test as base } from './shop-fixture.ts';

/** Orders as a report shows them: 20 now, 16 in the snapshot `Q2`, 12 in `Q1`. Of each four one is of the region EU: 5, 4 and 3. */
export interface Orders {
  id: string;
  path: string;
  q1: string;
  q2: string;
}

const queryOf = (most: number): string =>
  `select id, region, amount::float8 as amount, ordered_on from orders where id <= ${most} order by id`;

/** A snapshot of a dataset as it is now, made past the service so that its date is known. */
export async function snapshotOf(
  { platform }: Service,
  datasetId: string,
  name: string,
  date: string,
): Promise<string> {
  const { system, index } = platform;
  const [current] = await system.query<{ tenantId: string; generation: Generation }>({
    text: `select g.tenant_id as "tenantId", jsonb_build_object('id', g.id, 'fields', g.fields, 'records', g.records, 'size', g.size, 'warnings', '[]'::jsonb) as generation from dws.dataset d join dws.generation g on g.id = d.generation_id where d.id = $1`,
    values: [datasetId],
  });
  const { id: generationId, fields, records, size } = await index.clone(current!.generation, newId());
  const id = newId();
  await system.query({
    text: `insert into dws.generation (id, tenant_id, dataset_id, fields, records, size) values ($1, $2, $3, $4, $5, $6)`,
    values: [generationId, current!.tenantId, id, JSON.stringify(fields), records, size],
  });
  await system.query({
    text: `insert into dws.dataset (id, tenant_id, name, slug, owner_id, fields, generation_id, records, size, parent_id, is_snapshot, snapshot_date)
      select $2, tenant_id, $3, $4, owner_id, fields, $5, records, size, id, true, $6 from dws.dataset where id = $1`,
    values: [datasetId, id, name, `snapshot-${id}`, generationId, date],
  });
  return id;
}

export const Q1 = 'Q1 (2026-03-31T00:00:00.000Z)';
export const Q2 = 'Q2 (2026-06-30T00:00:00.000Z)';

async function makeOrders(service: Service, owner: Client, datasourceId: string): Promise<Orders> {
  const { id } = await owner.creates('/datasets', {
    name: 'Orders',
    datasourceId,
    query: queryOf(12),
    refresh: true,
    fieldSecurityEnabled: true,
  });
  const path = `/datasets/${id}`;
  const become = async (most: number) => {
    expect(await owner.put(path, { query: queryOf(most) })).toMatchObject({ status: 200 });
    expect(await owner.post(`${path}/_refresh`, {})).toMatchObject({ status: 200 });
  };
  const q1 = await snapshotOf(service, id, 'Q1', '2026-03-31');
  await become(16);
  const q2 = await snapshotOf(service, id, 'Q2', '2026-06-30');
  await become(20);
  return { id, path, q1, q2 };
}

/** The shop's world with ann's orders, and reports of hers. */
export const test = base.extend<{
  orders: Orders;
  report: (blocks?: object[]) => Promise<string>;
  attach: (reportId: string, more?: object) => Promise<string>;
}>({
  orders: [async ({ ann, service, source }, use) => use(await makeOrders(service, ann, source.id)), { scope: 'file' }],
  report: [
    async ({ ann }, use) =>
      use(async (blocks = []) => (await ann.creates('/reports', { name: 'Sales', definition: { blocks } })).id),
    { scope: 'file' },
  ],
  // The path of the new reference.
  attach: [
    async ({ ann, orders }, use) =>
      use(async (reportId, more = {}) => {
        const { alias } = await ann.creates(`/reports/${reportId}/dataset-refs`, {
          reportId,
          datasetId: orders.id,
          alias: 'sales',
          label: 'Sales',
          ...more,
        });
        return `/reports/${reportId}/dataset-refs/${alias}`;
      }),
    { scope: 'file' },
  ],
});

/** The reference's filter on European orders. */
export const EU = { criteria: [{ field: 'region', op: 'eq', value: 'EU' }] };
