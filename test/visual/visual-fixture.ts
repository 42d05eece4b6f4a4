import type { Client } from '../support/client.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

interface DatasetWithVisuals {
  id: string;
  visuals: string;
}

/** The shop with a dataset of its orders: amounts 10 to 200, in the regions US, APAC, none and EU in turn. */
export const test = base.extend<{
  orders: DatasetWithVisuals;
  createVisual: (config: object, component?: string) => Promise<string>;
  createDataset: (name: string) => Promise<DatasetWithVisuals>;
}>({
  orders: [
    async ({ ann, source }, use) => {
      const { id } = await ann.creates('/datasets', {
        name: 'Orders',
        datasourceId: source.id,
        query: ORDERS_QUERY,
        refresh: true,
      });
      await ann.put(`/datasets/${id}`, { fields: [{ name: 'amount', label: 'Amount' }] });
      await use({ id, visuals: `/datasets/${id}/visuals` });
    },
    { scope: 'file' },
  ],
  // A dataset without rows and visuals.
  createDataset: async ({ ann, source }, use) =>
    use(async (name) => {
      const { id } = await ann.creates('/datasets', { name, datasourceId: source.id, query: ORDERS_QUERY });
      return { id, visuals: `/datasets/${id}/visuals` };
    }),
  createVisual: async ({ ann, orders }, use) =>
    use(async (config, component = 'bar-chart') => (await ann.creates(orders.visuals, { component, config })).id),
});

/** Returns name, position and pinned of each visual. */
export const listPositions = async (who: Client, path: string) =>
  (await who.get(path)).body._embedded['svc:visual'].map(({ name, position, pinned }: Record<string, unknown>) => [
    name,
    position,
    pinned,
  ]);
