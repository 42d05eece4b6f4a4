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
import { createDemoApp, DEMO_APP } from './demo-app.ts';
import { createDemoAssistant, DEMO_ASSISTANT } from './demo-assistant.ts';
import { DEMO_DATASETS, DEMO_FOLDERS, DEMO_REPORT, demoQueries } from './demo-content.ts';
import { createDemoJob, DEMO_JOB } from './demo-job.ts';
import { createDemoTemplate, DEMO_TEMPLATE } from './demo-template.ts';
import { createDemoLibrary, createDemoToolkit, DEMO_LIBRARY, DEMO_TOOLKIT } from './demo-tools.ts';
import { createDemoUsage } from './demo-usage.ts';

const DEMO_DATASOURCE_SLUG = 'demo-shop';

/** Name of the setting that marks the demo as complete. Parts that users delete afterwards stay deleted. */
const DEMO_SETTING = 'demo';

/**
 * Creates the demo in tenant `default`, owned by its first superuser: a datasource on the demo shop, saved queries,
 * datasets with rows, a report, a template, an app, a library, a toolkit, an assistant, a job that has run, and four weeks of
 * usage. It is created once; the next start completes one that was interrupted. Never throws: errors, and the reason of an
 * aborted `signal`, are printed. See docs/contract/running.md#running-it.
 */
export async function seedDemo(
  platform: Platform,
  adminUrl: string,
  print: (line: string) => void,
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
      setOperation: () => undefined,
      setSession: () => undefined,
    } as const;
    const ctx = createViewerContext(platform, request, viewer);
    const [done] = await platform.system.query({
      text: `select value from dws.setting where name = $1`,
      values: [DEMO_SETTING],
    });
    const known = await findDatasource(ctx);
    if (known) await updateDemoConnection(ctx, adminUrl, known);
    if (done) return;

    print('Creating the demo ...');
    const folderId = await findOrCreateFolder(ctx, DEMO_FOLDERS.shop, null);
    const datasourceId = known?.id ?? (await createDatasource(ctx, adminUrl, folderId));
    await createContent(ctx, { folderId, datasourceId }, print);
    await platform.system.query({
      text: `insert into dws.setting (name, value) values ($1, 'done') on conflict (name) do nothing`,
      values: [DEMO_SETTING],
    });
    print('The demo is ready.');
  } catch (error) {
    print(`Creating the demo failed: ${(error as Error).message}`);
    if (signal.aborted) return;
    platform.log.warn({ err: error }, 'Creating the demo failed');
  }
}

interface KnownDatasource extends Record<string, unknown> {
  id: string;
  config: Record<string, unknown>;
  secrets: string | null;
}

async function findDatasource(ctx: Context): Promise<KnownDatasource | undefined> {
  const [found] = await ctx.query<KnownDatasource>({
    text: `
      select id, config, secrets
      from dws.datasource
      where tenant_id = $1 and slug = $2 and type = 'postgres' and config ->> 'database' = 'demo_shop'`,
    values: [ctx.viewer.tenantId, DEMO_DATASOURCE_SLUG],
  });
  return found;
}

const configOf = ({ host, port, database, user }: DemoSource) => ({ host, port, database, user });

async function createDatasource(ctx: Context, adminUrl: string, folderId: string): Promise<string> {
  const source = await seedDemoSource(adminUrl, randomBytes(24).toString('base64url'));
  const description =
    'Orders, customers and products of a fictional shop, in the embedded Postgres. Its login can only read.';
  return datasources.create(ctx, {
    type: 'postgres',
    name: 'Demo shop',
    slug: DEMO_DATASOURCE_SLUG,
    description,
    folderId,
    config: configOf(source),
    secrets: { password: source.password },
  });
}

/** Updates host and port of the datasource, which change with each start, and sets the stored password in Postgres. */
async function updateDemoConnection(
  ctx: Context,
  adminUrl: string,
  { id, config, secrets }: KnownDatasource,
): Promise<void> {
  if (!secrets) return;
  const { password } = JSON.parse(ctx.platform.secrets.open(secrets, 'the secrets of the datasource')) as {
    password: string;
  };
  const { host, port } = await seedDemoSource(adminUrl, password);
  if (config['host'] !== host || config['port'] !== port)
    await datasources.update(ctx, id, { config: { ...config, host, port }, secrets: { password } });
}

async function createContent(
  ctx: Context,
  { folderId, datasourceId }: { folderId: string; datasourceId: string },
  print: (line: string) => void,
): Promise<void> {
  const queryIds = new Map<string, string>();
  const queries = await findOrCreateFolder(ctx, DEMO_FOLDERS.queries, folderId);
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
      text: `
        select records
        from dws.dataset
        where tenant_id = $1 and id = $2 and generation_id is not null`,
      values: [ctx.viewer.tenantId, id],
    });
    if (records > 0) continue;
    const { result } = await refresh(ctx, id, {}, true);
    print(`  dataset "${common.name}": ${(result as { records: number }).records.toLocaleString('en')} rows`);
  }
  const visualIds = await createVisuals(ctx, datasetIds);
  await createReport(ctx, folderId, datasetIds, visualIds);
  const ids = { ordersId: datasetIds.get('orders')!, chartId: visualIds.get('Countries')! };
  if (await createDemoTemplate(ctx, folderId, ids)) print(`  template "${DEMO_TEMPLATE.name}"`);
  ctx.request.signal.throwIfAborted();
  if (await createDemoApp(ctx, folderId)) print(`  app "${DEMO_APP.name}"`);
  if (await createDemoLibrary(ctx, folderId)) print(`  library "${DEMO_LIBRARY.name}"`);
  if (await createDemoToolkit(ctx, folderId, queryIds.get('orders-since')!)) print(`  toolkit "${DEMO_TOOLKIT.name}"`);
  const used = {
    toolkitIds: [(await findBySlug(ctx, 'toolkit', DEMO_TOOLKIT.slug))!],
    datasetIds: [datasetIds.get('orders')!],
  };
  const assistant = await createDemoAssistant(ctx, folderId, used);
  if (assistant.isNew) print(`  assistant "${DEMO_ASSISTANT.name}"`);
  ctx.request.signal.throwIfAborted();
  const ran = await createDemoJob(ctx, folderId, datasetIds.get('orders')!);
  if (ran)
    print(`  job "${DEMO_JOB.name}": ${ran.success ? 'ran' : 'failed'} in ${(ran.duration / 1000).toFixed(1)} s`);
  const [appId, jobId] = [await findBySlug(ctx, 'app', DEMO_APP.slug), await findBySlug(ctx, 'job', DEMO_JOB.slug)];
  const credits = await createDemoUsage(ctx, { appId: appId!, jobId: jobId!, assistantId: assistant.id });
  if (credits !== null) print(`  usage of the last four weeks: ${credits} credits`);
}

/** Creates the visuals of the datasets. Returns their ids by their names. */
async function createVisuals(ctx: Context, datasetIds: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const visualIds = new Map<string, string>();
  for (const { slug, visuals: demoVisuals } of DEMO_DATASETS) {
    const datasetId = datasetIds.get(slug)!;
    const known = new Map(
      (
        (await ctx.read.children(Dataset, 'visuals', { id: datasetId }, ['name'])) as { id: string; name: string }[]
      ).map(({ id, name }) => [name, id]),
    );
    for (const visual of demoVisuals)
      visualIds.set(visual.name, known.get(visual.name) ?? (await visuals.create(ctx, datasetId, visual)));
  }
  return visualIds;
}

/** Creates the report, with some of the visuals. */
async function createReport(
  ctx: Context,
  folderId: string,
  datasetIds: ReadonlyMap<string, string>,
  visualIds: ReadonlyMap<string, string>,
): Promise<void> {
  if (await findBySlug(ctx, 'report', DEMO_REPORT.slug)) return;
  const { references, blocks, ...common } = DEMO_REPORT;
  const definition = {
    blocks: blocks.map((block) => ('visual' in block ? { ...block, visual: visualIds.get(block.visual)! } : block)),
  };
  const reportId = await reports.create(ctx, { ...common, folderId, definition });
  for (const [alias, label] of Object.entries(references))
    await datasetReferences.create(ctx, reportId, { reportId, datasetId: datasetIds.get(alias)!, alias, label });
}

async function findOrCreateFolder(ctx: Context, name: string, parentId: string | null): Promise<string> {
  const [found] = await ctx.query<{ id: string }>({
    text: `
      select id
      from dws.folder
      where tenant_id = $1 and name = $2 and parent_id is not distinct from $3
      limit 1`,
    values: [ctx.viewer.tenantId, name, parentId],
  });
  return found?.id ?? folders.create(ctx, { name, parentId });
}

async function findBySlug(
  ctx: Context,
  table: 'saved_query' | 'dataset' | 'report' | 'toolkit' | 'app' | 'job',
  slug: string,
): Promise<string | undefined> {
  const [found] = await ctx.query<{ id: string }>({
    text: `select id from dws.${table} where tenant_id = $1 and slug = $2`,
    values: [ctx.viewer.tenantId, slug],
  });
  return found?.id;
}
