import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import type { Client } from '../support/client.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { startService, type Service } from '../support/service.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

interface CreatedDataset {
  id: string;
  [key: string]: any;
}

type Variables = () => Promise<Record<string, string>>;

/**
 * Creates a test with the shop, a service with the dataset index of these variables, and a function that creates
 * datasets of ann's with the 20 orders.
 */
const createTest = (variables: Variables) =>
  base.extend<{ service: Service; createOrders: (more?: object) => Promise<CreatedDataset> }>({
    service: [
      async ({}, use) => {
        const service = await startService(await variables());
        await use(service);
        await service.close();
      },
      { scope: 'file' },
    ],
    createOrders: [
      async ({ ann, source }, use) =>
        use((more = {}) =>
          ann.creates('/datasets', {
            name: 'Orders',
            description: 'of the shop',
            datasourceId: source.id,
            query: ORDERS_QUERY,
            refresh: true,
            ...more,
          }),
        ),
      { scope: 'file' },
    ],
  });

/** Tests on the embedded index. */
export const test = createTest(async () => ({}));

/** Tests on Elasticsearch. */
export const searched = createTest(async () => ({ ELASTICSEARCH_URL: (await elasticsearch()).url }));

/** One test for each dataset index that is installed here. */
export const WORLDS = [
  { index: 'DuckDB', test },
  ...(HAS_ELASTICSEARCH ? [{ index: 'Elasticsearch', test: searched }] : []),
];

/** Returns the ids of the rows that a user may see, sorted, or the status of the error. */
export const rowsOf = async (who: Client, id: string): Promise<number[] | number> => {
  const { status, body } = await who.get(`/datasets/${id}/data?sort=id`);
  return status === 200 ? body._embedded['svc:record'].map((row: { id: number }) => row.id) : status;
};

/** Returns 1 to `n`. */
export const idsTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

/** Runs the janitor without its waiting times. Returns the remaining generations. */
export async function sweepUnused({ platform }: Service): Promise<string[]> {
  await sweepGenerations(platform, { replacedAge: -1000, orphanAge: 0 });
  return (await platform.index.generations()).map(({ id }) => id);
}

/** Returns the status of the file with a generation's rows in the embedded index. */
export const fileOf = ({ platform }: Service, esIndex: string) =>
  stat(join(platform.config.DATA_DIR, 'datasets', esIndex, 'rows.duckdb'));

/** Inserts a draft of a dataset directly into the database. Returns its id. */
export async function insertDraft({ platform }: Service, id: string): Promise<string> {
  const [draft] = await platform.system.query<{ id: string }>({
    text: `
      insert into dws.dataset (id, tenant_id, name, slug, owner_id, parent_id, is_draft, generation_id)
      select gen_random_uuid(), tenant_id, 'Draft', gen_random_uuid()::text, owner_id, id, true, generation_id
      from dws.dataset
      where id = $1
      returning id`,
    values: [id],
  });
  return draft!.id;
}
