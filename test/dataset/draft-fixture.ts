import type { ApiResponse, Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

/** A dataset of the orders, with its path and the path of the caller's draft. */
export interface DraftedDataset {
  id: string;
  path: string;
  draft: string;
}

/** A flow that keeps the 11 rows with an amount of at least 100. */
export const EXPENSIVE = [{ type: 'filter', criteria: { amount: { $gte: 100 } } }];
export const SELECTED = 'id, region, amount';

/** The shop, and a function that creates datasets of ann's, which bob may edit. */
export const test = base.extend<{ createOrders: (more?: object) => Promise<DraftedDataset> }>({
  createOrders: [
    async ({ ann, bob, source }, use) =>
      use(async (more = {}) => {
        const { id } = await ann.creates('/datasets', {
          name: 'Orders',
          datasourceId: source.id,
          query: ORDERS_QUERY,
          settings: { color: 'red' },
          refresh: true,
          ...more,
        });
        await expectOk(ann.put(`/datasets/${id}/shares/${bob.username}`, { accessLevel: 2 }));
        return { id, path: `/datasets/${id}`, draft: `/datasets/${id}/draft` };
      }),
    { scope: 'file' },
  ],
});

export const total = async (who: Client, id: string): Promise<number> =>
  (await who.get(`/datasets/${id}/data?limit=1`)).body.total;

export const isStale = async (who: Client, { draft }: DraftedDataset): Promise<boolean> =>
  (await who.get(draft)).body.stale;

export const expectOk = (response: Promise<ApiResponse>) => expectBody(response, 200, {});

/** Expects 404 because the caller has no draft of the dataset. */
export const expectNoDraft = (response: ApiResponse | Promise<ApiResponse>, { id }: DraftedDataset) =>
  expectBody(response, 404, { code: 'NOT_FOUND', message: `There is no draft of dataset ${id}` });

/** The name and label of each field, e.g. `amount Money`. */
export const labelsOf = (fields: { name: string; label: string }[]): string[] =>
  fields.map(({ name, label }) => `${name} ${label}`);
