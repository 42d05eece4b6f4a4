import type { Endpoint } from './bridge.ts';
import { AI_BODIES } from './openapi-examples-ai.ts';
import { ASSISTANT_BODIES } from './openapi-examples-assistant.ts';
import { JOB_BODIES } from './openapi-examples-job.ts';
import { LIBRARY_BODIES } from './openapi-examples-library.ts';
import { TEMPLATE_BODIES } from './openapi-examples-template.ts';
import { TOOLKIT_BODIES } from './openapi-examples-toolkit.ts';
import { USAGE_BODIES } from './openapi-examples-usage.ts';
import { operationId } from './openapi-names.ts';

/* Examples of the OpenAPI document: the order lines of the demo shop, as in docs/tour.md. */

const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';
const TIME = '2026-01-31T09:30:00.000Z';

/** Examples of parameters by their names. */
const PARAMETERS: Record<string, unknown> = {
  q: 'sales',
  sort: 'name,-createdAt',
  name: 'Sales',
  tag: 'Sales',
  username: 'ann',
  domain: 'local',
  tenant: 'default',
  principal: 'bob',
  ownerId: `user:${ID}`,
  from: TIME,
  to: TIME,
  action: 'shareDataset',
  actor: `user:${ID}`,
  entityId: ID,
  kind: 'dataset',
  dataset: 'lines',
  datasetId: 'order-lines',
};
/** Examples of parameters of operations on rows, which have other fields. */
const ROW_PARAMETERS: Record<string, unknown> = {
  q: 'rush delivery',
  sort: '-amount,country',
  fields: ['country', 'amount'],
  filter: '{"country": "France", "amount": {"$gte": 100}}',
};

/** Examples of parameters of one path, where their names mean something else. */
const PARAMETERS_OF_PATH: Record<string, Record<string, unknown>> = { '/ai/audit': { action: 'image' } };

/** Returns an example of a parameter; undefined where the schema says enough. */
export function parameterExample({ row: { path } }: Endpoint, name: string): unknown {
  const ofRows = path.startsWith('/datasets/:') ? ROW_PARAMETERS[name] : undefined;
  return PARAMETERS_OF_PATH[path]?.[name] ?? ofRows ?? PARAMETERS[name];
}

const QUERY = `select i.order_id, o.ordered_at, c.country, i.amount
from order_items i join orders o on o.id = i.order_id join customers c on c.id = o.customer_id
where o.ordered_at >= {{since}}`;
const PARAMS = [{ name: 'since', label: 'Since', dataType: 'date', defaultValue: '2026-01-01' }];
const PASSWORD = 'correct horse battery';
const SHARE = { accessLevel: 1 };
const OWNER = { ownerId: `team:${ID}` };
const REFRESH = { progress: 'first load', params: { since: '2026-01-01' } };
const VISUAL_CONFIG = { xAxis: 'country', yAxis: 'amount', aggregation: 'sum', orientation: 'horizontal' };
const BLOCKS = [{ id: 'countries', type: 'visual', dataset: 'lines', visual: ID }];
const UPLOAD = {
  file: 'country;amount\nFrance;120,50\n',
  name: 'Order lines',
  config: { delimiter: ';', decimal: ',' },
};

/** Examples of request bodies by operation id. */
const BODIES: Record<string, unknown> = {
  login: { username: 'ann', password: PASSWORD },
  loginToDomain: { username: 'ann', password: PASSWORD },
  createToken: { name: 'nightly export', scopes: ['read'], expiresAt: '2027-01-31T00:00:00.000Z' },
  requestPasswordReset: { username: 'ann' },
  resetPassword: { password: PASSWORD },
  changePassword: { currentPassword: PASSWORD, password: 'staple of a battery' },
  createUser: { username: 'bob', password: PASSWORD, displayName: 'Bob', email: 'bob@example.com', enabled: true },
  updateUser: { displayName: 'Bob B.', enabled: false },
  updateMe: { displayName: 'Ann A.', timezone: 'Europe/Berlin' },
  setTheme: { theme: 'dark' },
  setGlobalPermissions: { permissions: ['datasets:create', 'reports:create'] },
  setSuperuser: { superuser: true },
  setAvatar: { file: 'the bytes of a picture' },
  uploadAvatarPart: { file: 'bytes of a picture', chunk: 0, chunks: 3 },
  createTeam: { name: 'Sales', description: 'Everybody who sells' },
  updateTeam: { name: 'Sales Europe' },
  setTeamMember: { role: 'member' },
  createTeamComment: { message: 'The figures of May are complete.' },
  markFeedViewed: { activityIds: [ID] },
  createIdentityProvider: {
    domain: 'corp.example',
    name: 'Corp',
    issuer: 'https://login.corp.example',
    clientId: 'data-workspace',
    clientSecret: 'secret',
    createUsers: true,
    emailDomains: ['corp.example'],
  },
  updateIdentityProvider: { enabled: false },
  updateNotification: { read: true },
  createTag: { name: 'Sales', color: '#1a7f37' },
  updateTag: { color: '#0969da' },
  createFolder: { name: 'Quarterly', parentId: ID },
  updateFolder: { parentId: null },
  bulkAssignFolder: { folderId: ID, entities: [ID] },
  bulkUpdateFolders: { remove: [], add: [{ id: ID, name: 'Quarterly', parentId: null }], update: [] },
  setAppFile: { file: 'create table orders (id text primary key, status text not null);' },
  migrateApp: { progress: 'first tables' },
  deployApp: { progress: 'first release' },
  rollbackApp: { releaseId: ID },
  rotateHookToken: { keepOldSeconds: 86_400 },
  setAppGrant: { scopes: ['read'], releaseId: ID },
  createDatasource: {
    name: 'Shop',
    type: 'postgres',
    config: { host: 'db.example.com', port: 5432, database: 'shop', user: 'reader' },
    secrets: { password: 'secret' },
  },
  updateDatasource: { description: 'The shop, one day old' },
  uploadDatasource: UPLOAD,
  replaceDatasourceFile: { file: UPLOAD.file, refresh: true },
  queryDatasource: {
    query: 'select count(*) from order_items where amount > {{least}}',
    params: { least: 100 },
    limit: 10,
  },
  createDatasourceLink: { targetDatasourceId: ID, type: 'lookup', mappings: { customer_id: 'id' } },
  createSuite: { name: 'Shop and warehouse', datasourceIds: [ID] },
  updateSuite: { datasourceIds: [] },
  createSavedQuery: { name: 'Order lines', datasourceId: ID, query: QUERY, params: PARAMS },
  updateSavedQuery: { query: QUERY, params: PARAMS },
  runSavedQuery: { params: { since: '2026-01-01' }, limit: 10 },
  createDataset: { name: 'Order lines', queryId: ID, refresh: true },
  updateDataset: { description: 'One row for each line', fields: [{ name: 'amount', label: 'Amount in €' }] },
  uploadDataset: UPLOAD,
  previewUpload: UPLOAD,
  runDataset: { params: { since: '2026-01-01' } },
  refreshDataset: REFRESH,
  refreshDatasetInternal: REFRESH,
  previewRefresh: REFRESH,
  promoteRefresh: { previewId: ID },
  benchmarkDataset: { config: { iterations: 5, warmup: 1 } },
  benchmarkDatasetInternal: { config: { iterations: 5, warmup: 1 } },
  searchDatasetRows: {
    filter: { country: { $in: ['France', 'Spain'] }, amount: { $gte: 100 } },
    sort: '-amount',
    limit: 50,
  },
  aggregateDataset: {
    groupBy: [{ field: 'country' }, { field: 'ordered_at', interval: 'month' }],
    measures: [{ fn: 'sum', field: 'amount', as: 'amount' }],
    filter: { amount: { $gt: 0 } },
    sort: '-amount',
    limit: 20,
  },
  setDatasetFieldSecurity: { [ID]: true },
  shareDataset: { accessLevel: 1, datasetFilterId: ID, restrictFields: true, visibleFields: ['country', 'amount'] },
  shareDatasource: SHARE,
  shareSavedQuery: SHARE,
  shareReport: SHARE,
  shareApp: SHARE,
  setDatasetOwner: OWNER,
  setDatasourceOwner: OWNER,
  setSavedQueryOwner: OWNER,
  setSavedFilterOwner: OWNER,
  setReportOwner: OWNER,
  setAppOwner: OWNER,
  copyDataset: { name: 'My order lines' },
  createSnapshot: { name: 'End of January' },
  updateSnapshot: { description: 'As sent to the board' },
  promoteSnapshot: { name: 'Order lines of January', preserveSnapshot: true },
  updateDatasetDraft: { flow: [{ type: 'filter', criteria: { amount: { $gt: 0 } } }] },
  commitDatasetDraft: { clearAllUserSettings: false },
  setDatasetUserSettings: { settings: { columns: ['country', 'amount'] } },
  createVisual: { component: 'bar-chart', name: 'By country', config: VISUAL_CONFIG },
  updateVisual: { name: 'Amount by country', pinned: true },
  createSavedFilter: { name: 'France', criteria: { country: 'France' } },
  updateSavedFilter: { criteria: { country: { $in: ['France', 'Monaco'] } } },
  createReport: { name: 'Sales', definition: { blocks: BLOCKS } },
  updateReport: { definition: { blocks: BLOCKS } },
  createDatasetReference: { reportId: ID, datasetId: ID, alias: 'lines', label: 'Order lines' },
  updateDatasetReference: { label: 'Lines', chips: [{ field: 'country', label: 'Country' }] },
  createApp: { name: 'Returns', description: 'Handles returned goods' },
  updateApp: { description: 'Handles returned and broken goods' },
  ...AI_BODIES,
  ...ASSISTANT_BODIES,
  ...JOB_BODIES,
  ...LIBRARY_BODIES,
  ...TEMPLATE_BODIES,
  ...TOOLKIT_BODIES,
  ...USAGE_BODIES,
};

/** Returns an example of the body of an operation; undefined if it has none. */
export const bodyExample = (endpoint: Endpoint): unknown => BODIES[operationId(endpoint)];
