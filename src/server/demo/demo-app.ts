import { randomBytes } from 'node:crypto';
import { App } from '../../../entities/app.ts';
import { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { yieldOnce } from '../../core/files.ts';
import { deploy } from '../../services/app/app-deploy.ts';
import { setFile } from '../../services/app/app-file.ts';
import * as apps from '../../services/app/app.ts';
import { refresh } from '../../services/dataset/dataset-refresh.ts';
import * as datasets from '../../services/dataset/dataset.ts';
import { DEMO_APP_FILES } from './demo-app-files.ts';

/** The app of the demo. */
export const DEMO_APP = {
  name: 'Order inbox',
  slug: 'order-inbox',
  description:
    'Receives orders by a signed webhook and lists them. Set the secret of the signatures, `ORDER_SECRET` in its ' +
    'environment, before you send some: the demo has a random one.',
} as const;

/** The dataset on the tables of the app. */
const DEMO_APP_DATASET = {
  name: 'Received orders',
  slug: 'received-orders',
  description: 'The orders that the app “Order inbox” has received, with their items.',
  query: `select o.external_id as id, o.customer, o.status, o.total, o.received_at, i.sku, i.quantity, i.price
from orders o
join order_items i on i.order_id = o.id
order by o.received_at, o.id, i.position`,
} as const;

/**
 * Creates the app of the demo with its dataset, and deploys it. Completes one that was interrupted. Returns whether there
 * was anything to do.
 */
export async function createDemoApp(ctx: Context, folderId: string): Promise<boolean> {
  const dataset = await ctx.read.find(Dataset, DEMO_APP_DATASET.slug, ['id', 'generationId']);
  if (dataset?.generationId) return false;
  const found = await ctx.read.find(App, DEMO_APP.slug, ['id', 'status']);
  const env = { ORDER_SECRET: randomBytes(24).toString('base64url') };
  const appId = found?.id ?? (await apps.create(ctx, { ...DEMO_APP, folderId, env }));
  if (found?.status !== 'deployed') {
    await addFiles(ctx, appId);
    await deploy(ctx, appId, {}, true);
  }
  const datasourceId = await findDatasource(ctx, appId);
  const datasetId = dataset?.id ?? (await datasets.create(ctx, { ...DEMO_APP_DATASET, folderId, datasourceId }));
  await refresh(ctx, datasetId, {}, true);
  return true;
}

/** Stores the files. A migration that has run has the same contents. */
async function addFiles(ctx: Context, appId: string): Promise<void> {
  for (const [path, content] of Object.entries(DEMO_APP_FILES)) {
    const bytes = Buffer.from(content);
    const file = { filename: path, contentType: 'text/plain', minSize: bytes.length, content: yieldOnce(bytes) };
    await setFile(ctx, appId, path, { file });
  }
}

/** Returns the id of the datasource that the first migration of an app created. */
async function findDatasource(ctx: Context, appId: string): Promise<string> {
  const [found] = await ctx.query<{ id: string }>({
    text: `select id from dws.datasource where tenant_id = $1 and app_id = $2`,
    values: [ctx.viewer.tenantId, appId],
  });
  return found!.id;
}
