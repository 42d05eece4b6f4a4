import { expect } from 'vitest';
import type { Generation } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import type { Client } from './client.ts';
import type { Service } from './service.ts';
import { test as base } from './shop-fixture.ts';

/**
 * The dataset that reports in tests show: 20 orders now, 16 in the snapshot `Q2`, 12 in `Q1`. Every fourth order is of
 * the region EU: 5, 4 and 3.
 */
interface OrdersDataset {
  id: string;
  path: string;
  q1: string;
  q2: string;
}

/** Labels of the two snapshots. */
export const Q1 = 'Q1 (2026-03-31T00:00:00.000Z)';
export const Q2 = 'Q2 (2026-06-30T00:00:00.000Z)';

/** A reference's filter on European orders. */
export const EU = { criteria: [{ field: 'region', op: 'eq', value: 'EU' }] };
export const CHIPS = [{ field: 'region', label: 'Region' }];

const queryUpTo = (maxId: number): string =>
  `select id, region, amount::float8 as amount, ordered_on from orders where id <= ${maxId} order by id`;

/**
 * Creates a snapshot of a dataset's current rows directly in the database, so that its date is known. Returns its id.
 */
export async function createSnapshot(
  { platform }: Service,
  datasetId: string,
  name: string,
  date: string,
): Promise<string> {
  const { system, index } = platform;
  const [current] = await system.query<{ tenantId: string; generation: Generation }>({
    text: `
      select g.tenant_id as "tenantId",
        jsonb_build_object(
          'id', g.id, 'fields', g.fields, 'records', g.records, 'size', g.size, 'warnings', '[]'::jsonb
        ) as generation
      from dws.dataset d
      join dws.generation g on g.id = d.generation_id
      where d.id = $1`,
    values: [datasetId],
  });
  const { id: generationId, fields, records, size } = await index.clone(current!.generation, newId());
  const id = newId();
  await system.query({
    text: `
      insert into dws.generation (id, tenant_id, dataset_id, fields, records, size)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [generationId, current!.tenantId, id, JSON.stringify(fields), records, size],
  });
  await system.query({
    text: `
      insert into dws.dataset (
        id, tenant_id, name, slug, owner_id, fields, generation_id, records, size, parent_id, is_snapshot, snapshot_date
      )
      select $2, tenant_id, $3, $4, owner_id, fields, $5, records, size, id, true, $6
      from dws.dataset
      where id = $1`,
    values: [datasetId, id, name, `snapshot-${id}`, generationId, date],
  });
  return id;
}

async function createOrders(service: Service, owner: Client, datasourceId: string): Promise<OrdersDataset> {
  const { id } = await owner.creates('/datasets', {
    name: 'Orders',
    datasourceId,
    query: queryUpTo(12),
    refresh: true,
    fieldSecurityEnabled: true,
  });
  const path = `/datasets/${id}`;
  const loadUpTo = async (maxId: number) => {
    expect(await owner.put(path, { query: queryUpTo(maxId) })).toMatchObject({ status: 200 });
    expect(await owner.post(`${path}/_refresh`, {})).toMatchObject({ status: 200 });
  };
  const q1 = await createSnapshot(service, id, 'Q1', '2026-03-31');
  await loadUpTo(16);
  const q2 = await createSnapshot(service, id, 'Q2', '2026-06-30');
  await loadUpTo(20);
  return { id, path, q1, q2 };
}

interface ReportFixtures {
  orders: OrdersDataset;
  /** Creates a report of ann's with these blocks. Returns its id. */
  report: (blocks?: object[]) => Promise<string>;
  /** Attaches the orders to a report, by default as `sales`. Returns the path of the reference. */
  attach: (reportId: string, input?: object) => Promise<string>;
  /** Shares the orders with bob: rows that match the criteria, fields `id` and `region`. */
  restrictBob: (criteria: object) => Promise<void>;
}

export const test = base.extend<ReportFixtures>({
  orders: [
    async ({ ann, service, source }, use) => use(await createOrders(service, ann, source.id)),
    { scope: 'file' },
  ],
  report: [
    async ({ ann }, use) =>
      use(async (blocks = []) => (await ann.creates('/reports', { name: 'Sales', definition: { blocks } })).id),
    { scope: 'file' },
  ],
  attach: [
    async ({ ann, orders }, use) =>
      use(async (reportId, input = {}) => {
        const { alias } = await ann.creates(`/reports/${reportId}/dataset-refs`, {
          reportId,
          datasetId: orders.id,
          alias: 'sales',
          label: 'Sales',
          ...input,
        });
        return `/reports/${reportId}/dataset-refs/${alias}`;
      }),
    { scope: 'file' },
  ],
  restrictBob: [
    async ({ ann, orders }, use) =>
      use(async (criteria) => {
        const filter = await ann.creates(`${orders.path}/filters`, { name: 'Restriction', criteria });
        const share = { datasetFilterId: filter.id, restrictFields: true, visibleFields: ['id', 'region'] };
        const response = await ann.put(`${orders.path}/shares/bob`, { accessLevel: 1, ...share });
        expect(response).toMatchObject({ status: 200 });
      }),
    { scope: 'file' },
  ],
});
