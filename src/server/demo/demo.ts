import { randomBytes } from 'node:crypto';
import { Dataset } from '../../../entities/dataset.ts';
import { seedDemoSource, type DemoSource } from '../../adapters/demo-source/demo-source.ts';
import type { Context } from '../../core/context.ts';
import type { Platform } from '../../core/platform.ts';
import { refresh } from '../../services/dataset/dataset-refresh.ts';
import * as datasets from '../../services/dataset/dataset.ts';
import * as datasources from '../../services/datasource/datasource.ts';
import * as savedQueries from '../../services/datasource/saved-query.ts';
import { findFirstSuperuser } from '../../services/identity/operator.ts';
import * as datasetReferences from '../../services/report/dataset-reference.ts';
import * as reports from '../../services/report/report.ts';
import * as folders from '../../services/resource/folder.ts';
import { createViewerContext } from '../../services/resource/viewer-context.ts';
import * as visuals from '../../services/visual/visual.ts';
import { DEMO_DATASETS, DEMO_FOLDERS, DEMO_REPORT, demoQueries } from './demo-content.ts';

const SLUG = 'demo-shop';

/** Set once all of the demo was made; what people delete afterwards stays deleted. */
const DONE = 'demo';

/**
 * Demo content of tenant `default`, in the name of its first superuser (contract 1, `SEED_DEMO`): a datasource on a shop of our own, saved queries and
 * datasets with rows. Made once; a start that was cut short is completed by the next. Never throws: `say` tells what
 * went wrong, or why `signal` ended it.
 */
export async function seedDemo(
  platform: Platform,
  adminUrl: string,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    const viewer = await findFirstSuperuser(platform.system, 'default');
    if (!viewer) return;
    const request = {
      id: 'demo',
      address: '127.0.0.1',
      channel: 'cli',
      userAgent: null,
      signal,
      setSession: () => undefined,
    } as const;
    const ctx = createViewerContext(platform, request, viewer);
    const [done] = await platform.system.query({
      text: `select value from dws.setting where name = $1`,
      values: [DONE],
    });
    const known = await findDatasource(ctx);
    if (known) await keepReachable(ctx, adminUrl, known);
    if (done) return;

    say('Making the demo shop ...');
    const folderId = await folderOf(ctx, DEMO_FOLDERS.shop, null);
    const datasourceId = known?.id ?? (await createDatasource(ctx, adminUrl, folderId));
    await createContent(ctx, { folderId, datasourceId }, say);
    await platform.system.query({
      text: `insert into dws.setting (name, value) values ($1, 'done') on conflict (name) do nothing`,
      values: [DONE],
    });
    say('The demo is ready.');
  } catch (error) {
    say(`The demo was not completed: ${(error as Error).message}`);
    if (signal.aborted) return;
    platform.log.warn({ err: error }, 'The demo was not completed');
  }
}

interface Known extends Record<string, unknown> {
  id: string;
  config: Record<string, unknown>;
  secrets: string | null;
}

async function findDatasource(ctx: Context): Promise<Known | undefined> {
  const [found] = await ctx.query<Known>({
    text: `select id, config, secrets from dws.datasource where tenant_id = $1 and slug = $2 and type = 'postgres' and config ->> 'database' = 'demo_shop'`,
    values: [ctx.viewer.tenantId, SLUG],
  });
  return found;
}

const configOf = ({ host, port, database, user }: DemoSource) => ({ host, port, database, user });

async function createDatasource(ctx: Context, adminUrl: string, folderId: string): Promise<string> {
  const source = await seedDemoSource(adminUrl, randomBytes(24).toString('base64url'));
  const description =
    'Orders, customers and products of a made-up shop, in the embedded Postgres; its login can only read.';
  return datasources.create(ctx, {
    type: 'postgres',
    name: 'Demo shop',
    slug: SLUG,
    description,
    folderId,
    config: configOf(source),
    secrets: { password: source.password },
  });
}

/** The embedded Postgres may have another port today, and its reader must have the password that the datasource keeps. */
async function keepReachable(ctx: Context, adminUrl: string, { id, config, secrets }: Known): Promise<void> {
  if (!secrets) return;
  const { password } = JSON.parse(ctx.platform.secrets.open(secrets)) as { password: string };
  const { host, port } = await seedDemoSource(adminUrl, password);
  if (config['host'] !== host || config['port'] !== port)
    await datasources.update(ctx, id, { config: { ...config, host, port }, secrets: { password } });
}

async function createContent(
  ctx: Context,
  { folderId, datasourceId }: { folderId: string; datasourceId: string },
  say: (line: string) => void,
): Promise<void> {
  const queryIds = new Map<string, string>();
  const queries = await folderOf(ctx, DEMO_FOLDERS.queries, folderId);
  for (const query of demoQueries(new Date())) {
    queryIds.set(
      query.slug,
      (await findBySlug(ctx, 'saved_query', query.slug)) ??
        (await savedQueries.create(ctx, { ...query, datasourceId, folderId: queries })),
    );
  }
  const datasetIds = new Map<string, string>();
  for (const { follows, query, visuals: _visuals, ...common } of DEMO_DATASETS) {
    ctx.request.signal.throwIfAborted();
    const source = follows ? { queryId: queryIds.get(follows)! } : { datasourceId, query };
    const id =
      (await findBySlug(ctx, 'dataset', common.slug)) ??
      (await datasets.create(ctx, { ...common, ...source, folderId }));
    datasetIds.set(common.slug, id);
    const [{ records } = { records: 0 }] = await ctx.query<{ records: number }>({
      text: `select records from dws.dataset where tenant_id = $1 and id = $2 and generation_id is not null`,
      values: [ctx.viewer.tenantId, id],
    });
    if (records > 0) continue;
    const { result } = await refresh(ctx, id, {}, true);
    say(`  dataset "${common.name}": ${(result as { records: number }).records.toLocaleString('en')} rows`);
  }
  await createReport(ctx, folderId, datasetIds);
}

/** The visuals of the datasets, and the report that shows some of them. */
async function createReport(ctx: Context, folderId: string, datasetIds: ReadonlyMap<string, string>): Promise<void> {
  const visualIds = new Map<string, string>();
  for (const { slug, visuals: wanted } of DEMO_DATASETS) {
    const datasetId = datasetIds.get(slug)!;
    const known = new Map(
      (
        (await ctx.read.children(Dataset, 'visuals', { id: datasetId }, ['name'])) as { id: string; name: string }[]
      ).map(({ id, name }) => [name, id]),
    );
    for (const visual of wanted)
      visualIds.set(visual.name, known.get(visual.name) ?? (await visuals.create(ctx, datasetId, visual)));
  }
  if (await findBySlug(ctx, 'report', DEMO_REPORT.slug)) return;
  const { references, blocks, ...common } = DEMO_REPORT;
  const definition = {
    blocks: blocks.map((block) => ('visual' in block ? { ...block, visual: visualIds.get(block.visual)! } : block)),
  };
  const reportId = await reports.create(ctx, { ...common, folderId, definition });
  for (const [alias, label] of Object.entries(references))
    await datasetReferences.create(ctx, reportId, { reportId, datasetId: datasetIds.get(alias)!, alias, label });
}

async function folderOf(ctx: Context, name: string, parentId: string | null): Promise<string> {
  const [found] = await ctx.query<{ id: string }>({
    text: `select id from dws.folder where tenant_id = $1 and name = $2 and parent_id is not distinct from $3 limit 1`,
    values: [ctx.viewer.tenantId, name, parentId],
  });
  return found?.id ?? folders.create(ctx, { name, parentId });
}

async function findBySlug(
  ctx: Context,
  table: 'saved_query' | 'dataset' | 'report',
  slug: string,
): Promise<string | undefined> {
  const [found] = await ctx.query<{ id: string }>({
    text: `select id from dws.${table} where tenant_id = $1 and slug = $2`,
    values: [ctx.viewer.tenantId, slug],
  });
  return found?.id;
}
