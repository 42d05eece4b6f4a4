import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import type { Client } from '../support/client.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { startService, type Service } from '../support/service.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

export interface Made {
  id: string;
  [key: string]: any;
}

type Variables = () => Promise<Record<string, string>>;

/** The shop, in a service whose rows live in the index of these variables, with as many datasets of its orders as wanted: ann's, with 20 rows. */
const copiesIn = (variables: Variables) =>
  base.extend<{ service: Service; orders: (more?: object) => Promise<Made> }>({
    service: [
      async ({}, use) => {
        const service = await startService(await variables());
        await use(service);
        await service.close();
      },
      { scope: 'file' },
    ],
    orders: [
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
export const test = copiesIn(async () => ({}));

/** Tests on Elasticsearch. */
export const searched = copiesIn(async () => ({ ELASTICSEARCH_URL: (await elasticsearch()).url }));

/** The same on every index that is installed here. */
export const WORLDS = [
  { index: 'DuckDB', test },
  ...(HAS_ELASTICSEARCH ? [{ index: 'Elasticsearch', test: searched }] : []),
];

/** Ids of the rows that somebody sees, in their order. */
export const rowsOf = async (who: Client, id: string): Promise<number[] | number> => {
  const { status, body } = await who.get(`/datasets/${id}/data?sort=id`);
  return status === 200 ? body._embedded['svc:record'].map((row: { id: number }) => row.id) : status;
};

export const count = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

/** Lets the janitor drop all that nobody needs, at once. Answers the generations that are left. */
export async function swept({ platform }: Service): Promise<string[]> {
  await sweepGenerations(platform, { replacedAge: -1000, orphanAge: 0 });
  return (await platform.index.generations()).map(({ id }) => id);
}

/** The file that holds a generation's rows in the embedded index. */
export const fileOf = ({ platform }: Service, esIndex: string) =>
  stat(join(platform.config.DATA_DIR, 'datasets', esIndex, 'rows.duckdb'));

/** A draft of a dataset, past the service. */
export async function draftOf({ platform }: Service, id: string): Promise<string> {
  const [draft] = await platform.system.query<{ id: string }>({
    text: `insert into dws.dataset (id, tenant_id, name, slug, owner_id, parent_id, is_draft, generation_id) select gen_random_uuid(), tenant_id, 'Draft', gen_random_uuid()::text, owner_id, id, true, generation_id from dws.dataset where id = $1 returning id`,
    values: [id],
  });
  return draft!.id;
}
