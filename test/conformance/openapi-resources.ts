import type { Client } from '../support/client.ts';
import { PASSWORD } from '../support/service.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createForm, DATASETS, ORDERS } from '../support/upload-form.ts';
import { FIXTURES } from './fixtures.ts';

/** Ids of resources of every kind and of their children. A key is the path up to a parameter. */
export type Resources = Readonly<Record<string, string>>;

/**
 * Creates one resource of every kind, and one of every child. The dataset is an uploaded file, so that its queries run
 * in this process.
 */
export async function createResources(admin: Client, name: string): Promise<Resources> {
  const ids: Record<string, string> = {};
  for (const [kind, fixture] of Object.entries(FIXTURES))
    ids[`/${kind}/`] = await fixture.create(admin, `${name} ${kind}`);
  const form = createForm(ORDERS, 'orders.csv', { before: { name: `${name} orders` } });
  const uploaded = await admin.creates(DATASETS, form);
  const [datasetId, datasourceId] = [uploaded.id as string, uploaded.datasourceId as string];
  const dataset = `/datasets/${datasetId}`;
  const create = async (path: string, body: object): Promise<any> => admin.creates(path, body);
  const query = await create('/queries', { name: `${name} rows`, datasourceId, query: 'select * from data' });
  const reportId = ids['/reports/'];
  const tagId = ids['/tags/']!;
  await create(`/reports/${reportId}/dataset-refs`, { reportId, datasetId, alias: 'orders', label: 'Orders' });
  for (const path of [dataset, `/datasources/${datasourceId}`, `/queries/${query.id}`])
    for (const kind of ['shares', 'tags', 'favorite']) await createAspect(admin, path, kind, ids['/users/']!, tagId);
  for (const kind of ['reports', 'apps', 'jobs', 'templates', 'libraries', 'toolkits', 'assistants'])
    for (const aspect of ['shares', 'tags', 'favorite'])
      await createAspect(admin, `/${kind}/${ids[`/${kind}/`]}`, aspect, ids['/users/']!, tagId);
  await admin.put(`/teams/${ids['/teams/']}/members/${ids['/users/']}`, { role: 'member' });
  await admin.put(`${dataset}/draft`, { name: `${name} draft` });
  await admin.post('/login', { username: 'admin', password: PASSWORD });
  const job = await createJobParts(admin, `/jobs/${ids['/jobs/']}`, datasetId);
  const template = await createTemplateParts(admin, `/templates/${ids['/templates/']}`);
  // Named like the file of the template, because both paths end with `/files/` and a parameter.
  const file = { 'content-type': 'text/plain' };
  await admin.request('PUT', `/api/apps/${ids['/apps/']}/files/${template['/files/']}`, 'export const get = 1', file);
  const appParts = await createAppParts(admin, ids['/apps/']!);
  await admin.put(`/libraries/${ids['/libraries/']}/integration`, { integrationId: ids['/integrations/'] });
  const session = (await admin.get('/sessions')).body._embedded['svc:session'][0];
  return {
    ...ids,
    ...job,
    ...template,
    ...appParts,
    '/datasets/': datasetId,
    '/datasources/': datasourceId,
    '/queries/': query.id,
    '/shares/': await userId(admin, ids['/users/']!),
    '/tags/': tagId,
    '/members/': ids['/users/']!,
    '/dataset-refs/': 'orders',
    '/filters/': (await create(`${dataset}/filters`, { name: 'All', criteria: {} })).id,
    '/visuals/': (await create(`${dataset}/visuals`, { component: 'table' })).id,
    '/snapshots/': (await create(`${dataset}/snapshots`, { name: 'Then' })).id,
    '/comments/': (await create(`/teams/${ids['/teams/']}/comments`, { message: 'Hello' })).id,
    '/links/': (await create(`/datasources/${datasourceId}/links`, linkTo(ids['/datasources/']!))).id,
    '/app-grants/': ids['/apps/']!,
    '/tokens/': (await create('/tokens', { name })).id,
    '/sessions/': session.id,
    '/progress/': ((await admin.get('/progress')).body._embedded['svc:operation'][0]?.id as string) ?? UNKNOWN_ID,
    '/identity-providers/': (await create('/identity-providers', { ...PROVIDER, name })).id,
    '/usage-profiles/': (await create('/usage-profiles', { ...PROFILE, slug: name })).id,
    '/clients/': await createClient(admin),
    '/documents/': 'me',
    '/runs/': await createAgentRun(admin, ids['/agents/']!, ids['/ai-providers/']!),
    '/login/': 'local',
  };
}

/** Creates a dataset, an action with a file, a run condition and a run of a job. The alias is the id, as in `/datasets/`. */
async function createJobParts(admin: Client, job: string, datasetId: string): Promise<Record<string, string>> {
  await admin.creates(`${job}/datasets`, { alias: datasetId, datasetId });
  const data = { recipients: ['admin'], message: 'Done' };
  const { id } = await admin.creates(`${job}/actions`, { type: 'notify', name: 'Notify', data });
  const action = `${job}/actions/${id}`;
  await admin.put(`${action}/action-file-contents`, createForm(ORDERS, 'orders.csv'));
  const condition = await admin.creates(`${action}/job-action-run-conditions`, { type: 'always' });
  await admin.post(job);
  const { body: history } = await admin.get(`${job}/history`);
  return {
    '/actions/': id,
    '/job-action-run-conditions/': condition.id,
    '/history/': history._embedded['svc:job-history'][0].id,
  };
}

/** Creates a file of a template, which is rendered by default, a rendition of it, and a draft. */
async function createTemplateParts(admin: Client, template: string): Promise<Record<string, string>> {
  const { id } = await admin.creates(`${template}/files`, { filename: 'report.njk', role: 'TEMPLATE' });
  await admin.put(`${template}/files/${id}/contents`, createForm('<h1>Report</h1>', 'report.njk'));
  await admin.post(`${template}/_render`);
  const { body: renditions } = await admin.get(`${template}/renditions`);
  await admin.put(`${template}/inputs`, { inputs: [{ name: 'country', schema: { type: 'string' } }] });
  const processors = [{ name: 'orders', type: 'dataset', config: { datasetId: id } }];
  await admin.put(`${template}/processors`, { processors });
  await admin.creates(`${template}/_edit`, undefined);
  return { '/files/': id, '/renditions/': renditions._embedded['svc:rendition'][0].id };
}

/** Deploys an app with a route and a webhook of every method, and calls the webhook. */
async function createAppParts(admin: Client, appId: string): Promise<Record<string, string>> {
  const app = `/api/apps/${appId}`;
  const javascript = { 'content-type': 'text/javascript' };
  const methods = (...names: string[]) => `export const ${names.map((name) => `${name} = () => 'pong'`).join(', ')}`;
  const webhook = methods('get', 'post', 'put');
  await admin.request('PUT', `${app}/files/webhooks/ping.js`, webhook, javascript);
  const route = methods('get', 'post', 'put', 'patch');
  await admin.request(
    'PUT',
    `${app}/files/server/ping.js`,
    `${route}, del = () => 'pong'; export { del as delete };`,
    javascript,
  );
  const { body: release } = await admin.post(`/apps/${appId}/_deploy`);
  await admin.post(`/apps/${appId}/_hook/ping`, {});
  const { body: calls } = await admin.get(`/apps/${appId}/webhooks/calls`);
  const { hookToken } = (await admin.get(`/apps/${appId}/webhooks`)).body;
  return {
    '/view/': 'ping',
    '/_hook/': 'ping',
    '/hooks/': hookToken.token,
    '/releases/': release.releaseId,
    '/calls/': calls._embedded['svc:webhook-call'][0].id,
  };
}

/** Runs an agent, which fails as its AI provider does not exist. Returns the id of the run. */
async function createAgentRun(admin: Client, agentId: string, providerId: string): Promise<string> {
  const model = { id: 'chat', kind: 'chat', tier: 'everyday', inputPrice: 1, outputPrice: 1 };
  await admin.put(`/ai-providers/${providerId}`, { models: [model] });
  const { id } = await admin.creates(`/agents/${agentId}/_run`, {});
  await admin.put(`/ai-providers/${providerId}`, { models: [] });
  return id;
}

/** Creates a client with a document. Returns its name. */
async function createClient(admin: Client): Promise<string> {
  await admin.post('/clients/web/documents', { me: 'query Me { me { username } }' });
  return 'web';
}

const PROVIDER = { domain: 'corp', issuer: 'https://login.example.com', clientId: 'workspace', enabled: false };

const PROFILE = { name: 'Linked', description: 'Of a test.' };

const linkTo = (targetDatasourceId: string) => ({ targetDatasourceId, type: 'lookup' });

const userId = async (admin: Client, username: string): Promise<string> =>
  (await admin.get(`/users/${username}`)).body.id;

async function createAspect(admin: Client, path: string, aspect: string, username: string, tagId: string) {
  if (aspect === 'shares') await admin.put(`${path}/shares/${await userId(admin, username)}`, { accessLevel: 1 });
  else if (aspect === 'tags') await admin.put(`${path}/tags/${tagId}`);
  else await admin.put(`${path}/favorite`);
}

/**
 * Fills the parameters of a path, each with the id of the resource that its place names. Behind a token is the path of a
 * webhook.
 */
export function fillPath(path: string, resources: Resources): string {
  return path
    .replace(/(\/[\w-]+\/)\{\w+\}/g, (_, place: string) => {
      return `${place}${encodeURIComponent(resources[place] ?? UNKNOWN_ID)}`;
    })
    .replace('{path}', 'ping');
}

/** Returns values of body keys that must be real: names and ids that resources have. */
export const realValues = (resources: Resources): Record<string, unknown> => ({
  datasourceId: resources['/datasources/'],
  targetDatasourceId: resources['/datasources/'],
  datasetId: resources['/datasets/'],
  integrationId: resources['/integrations/'],
  reportId: resources['/reports/'],
  releaseId: resources['/releases/'],
  templateFileId: resources['/files/'],
  queryId: resources['/queries/'],
  assistantId: resources['/assistants/'],
  profileId: resources['/usage-profiles/'],
  folderId: resources['/folders/'],
  parentId: null,
  password: PASSWORD,
  currentPassword: PASSWORD,
  criteria: {},
  ownerId: resources['/shares/'],
  tags: [resources['/tags/']],
  entities: [resources['/datasets/']],
  datasourceIds: [resources['/datasources/']],
  query: 'select 1 as one',
  type: 'postgres',
  measures: [{ fn: 'count', as: 'n' }],
  datasets: {},
  processors: [{ name: 'orders', type: 'dataset', config: { datasetId: resources['/datasets/'] } }],
  activityIds: [],
  issuer: PROVIDER.issuer,
});
