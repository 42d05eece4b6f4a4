import type { Context } from '../../src/core/context.ts';
import { ApiError } from '../../src/core/errors.ts';
import { createJobContext } from '../../src/services/job/job-context.ts';
import { loadTemplateData, type ProcessorDefinition } from '../../src/services/template/template-data.ts';
import type { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';
import { systemQuery } from '../support/system-query.ts';

/** A dataset of orders, with a visual. */
export interface Orders {
  id: string;
  visualId: string;
}

export const test = base.extend<{ orders: Orders }>({
  orders: [
    async ({ ann, source }, use) => {
      const { id } = await ann.creates('/datasets', {
        name: 'Orders',
        datasourceId: source.id,
        query: ORDERS_QUERY,
        refresh: true,
      });
      const config = { xAxis: 'region', yAxis: 'amount', aggregation: 'sum' };
      const visual = await ann.creates(`/datasets/${id}/visuals`, { component: 'bar-chart', name: 'Sales', config });
      await use({ id, visualId: visual.id });
    },
    { scope: 'file' },
  ],
});

/** A processor that reads a dataset. */
export const dataset = (config: Record<string, unknown>, name = 'orders'): ProcessorDefinition => ({
  name,
  type: 'dataset',
  config,
});

/** Returns a context of a user, without a request. */
export async function contextOf(service: Service, { id }: Pick<Client, 'id'>): Promise<Context> {
  const [user] = await systemQuery<{ tenantId: string }>(
    service,
    `select tenant_id as "tenantId" from dws.app_user where id = '${id}'`,
  );
  return createJobContext(service.platform, user!.tenantId, `user:${id}`, new AbortController().signal);
}

interface Reading {
  values?: Record<string, unknown>;
  preview?: boolean;
  signal?: AbortSignal;
}

/** Returns the data of a rendering by a user. */
export const readData = async (
  service: Service,
  who: Pick<Client, 'id'>,
  processors: readonly ProcessorDefinition[],
  { values = {}, preview = false, signal = new AbortController().signal }: Reading = {},
): Promise<Record<string, any>> =>
  loadTemplateData(await contextOf(service, who), { processors, values, preview, signal });

/** Returns the error of a rendering by a user, as its status, the path of its issue and its message. */
export async function readError(...args: Parameters<typeof readData>): Promise<[number, string, string]> {
  try {
    await readData(...args);
  } catch (error) {
    if (error instanceof ApiError) return [error.status, error.validation?.[0]?.path.join('.') ?? '', error.message];
    throw error;
  }
  throw new Error('The data was read');
}
