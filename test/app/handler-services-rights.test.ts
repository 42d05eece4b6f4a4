import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { refusesApps } from '../../resolvers/support/app-refusals.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createMail, RESET_LINK } from '../support/mail-fixture.ts';
import { PASSWORD, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createForm, ORDERS } from '../support/upload-form.ts';
import { createApp } from './app-fixture.ts';
import { callApi, servicesFor } from './handler-services-fixture.ts';

const REFUSAL =
  'An app cannot create credentials, create or delete teams, manage users or identity providers, or change agents, apps, jobs, ' +
  'toolkits, what libraries sync, usage profiles, permissions, shares and owners';

/** The mutations that handlers may run, without those that each kind with owners has. Decide on a new one in one of both. */
const ALLOWED = `
  createAssistant updateAssistant deleteAssistant setAssistantIcon deleteAssistantIcon
  benchmarkDataset benchmarkDatasetInternal bulkAssignFolder bulkUpdateFolders cancelJobRun
  cancelOperation commitDatasetDraft commitTemplateDraft copyDataset createDataset createDatasetReference
  createDatasource createDatasourceLink createFolder createLibrary createReport createSavedFilter createSavedQuery
  createSnapshot createSuite createTag createTeamComment createTemplate createTemplateFile createToolkit createVisual
  deleteApp deleteAvatar deleteDataset deleteDatasetDraft deleteDatasetReference deleteDatasetUserSettings
  deleteDatasource deleteDatasourceLink deleteFolder deleteJob deleteLibrary deleteReport deleteSavedFilter
  deleteSavedQuery deleteSnapshot deleteSuite deleteTag deleteTeamComment deleteTemplate deleteTemplateDraft
  deleteTemplateFile deleteToolkit deleteUsageProfile deleteVisual discoverToolkit editDataset editTemplate logout markFeedViewed
  previewRefresh previewUpload promoteRefresh promoteSnapshot queryDatasource refreshDataset refreshDatasetInternal
  renderTemplate replaceDatasourceFile retryJobRun runDataset runJob runSavedQuery setAvatar setDatasetUserSettings setTemplateFile
  setTemplateFileContents setTemplateInputs setTemplateProcessors setTemplateSettings setTheme syncDatasetFields
  syncLibrary testDatasource updateDataset updateDatasetDraft updateDatasetReference updateDatasource updateFolder
  updateLibrary updateMe updateNotification updateReport updateSavedFilter updateSavedQuery updateSnapshot updateSuite
  updateTag updateTeam updateTemplate updateTemplateFile updateVisual uploadAvatarPart uploadDataset
  uploadDatasource uploadTemplateFile
  cancelAgentRun createAssistantImage createImage deleteAgent deleteImage runAgent`
  .trim()
  .split(/\s+/);
const OF_ALL_KINDS = /^(?:un)?(?:tag|favorite)[A-Z]/;

/** Bodies of the routes whose mutations are refused. Others have none. */
const BODIES: Readonly<Record<string, object>> = {
  login: { username: 'admin', password: PASSWORD },
  requestPasswordReset: { username: 'admin' },
  resetPassword: { password: 'another long password' },
  changePassword: { currentPassword: PASSWORD, password: 'another long password' },
  createToken: { name: 'Of an app' },
  createIdentityProvider: { name: 'x', domain: 'x', issuer: 'https://idp.example', clientId: 'x', clientSecret: 'x' },
  createAiProvider: { name: 'Door', baseUrl: 'https://ai.example/v1' },
  createIntegration: { name: 'Door', type: 'box', clientId: 'x' },
  setLibraryIntegration: { integrationId: '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f' },
  createUser: { username: 'new', password: PASSWORD },
  updateUser: { enabled: true },
  setGlobalPermissions: { permissions: ['users:edit'] },
  setSuperuser: { superuser: true },
  createTeam: { name: 'New' },
  setTeamMember: { role: 'admin' },
  createApp: { name: 'Door' },
  rollbackApp: { releaseId: 'x' },
  setAppGrant: { scopes: ['read'] },
  createAgent: { name: 'Door', assistantId: 'x' },
  createUsageProfile: { name: 'Door', slug: 'door', description: 'Of an app' },
  setTeamUsageProfile: { profileId: null },
  setUserUsageProfile: { profileId: null },
  createJob: { name: 'Door', type: 'actions' },
  createJobAction: { name: 'Door', type: 'email' },
  setJobActionOrder: { actions: [] },
  createJobActionCondition: { type: 'always' },
  setClientMode: { mode: 'OFF' },
  createJobDataset: { alias: 'door', datasetId: 'x' },
};
const bodyOf = (mutation: string): object =>
  BODIES[mutation] ??
  (mutation.startsWith('share') ? { accessLevel: 1 } : mutation.endsWith('Owner') ? { ownerId: 'ann' } : {});

/** The routes of refused mutations. */
const ROUTES = [...readFileSync('schema/routes.txt', 'utf8').matchAll(/^(\w+) (\/api\S*) -> Mutation\.(\w+)/gm)]
  .map(([, method, path, mutation]) => ({ method: method!, path: path!, mutation: mutation! }))
  .filter(({ mutation }) => refusesApps(mutation));

test('every mutation is classified', async () => {
  const mutations = Object.keys((await createSchema()).getMutationType()!.getFields());
  const open = mutations.filter((name) => !refusesApps(name) && !OF_ALL_KINDS.test(name));
  expect(open.toSorted()).toEqual(ALLOWED.toSorted());
  const routed = new Set(ROUTES.map(({ mutation }) => mutation));
  expect([...routed].toSorted()).toEqual(mutations.filter(refusesApps).toSorted());
});

describe('refused routes', () => {
  const countRows = (service: Service) =>
    systemQuery<Record<string, number>>(
      service,
      `select (select count(*)::int from dws.session) as sessions, (select count(*)::int from dws.share) as shares,
        (select count(*)::int from dws.team) as teams, (select count(*)::int from dws.password_reset) as resets,
        (select count(*)::int from dws.api_token) as tokens, (select count(*)::int from dws.app_user) as users,
        (select count(*)::int from dws.app_user where superuser) as superusers,
        (select count(*)::int from dws.app) as apps, (select count(*)::int from dws.app_file) as files,
        (select count(*)::int from dws.job) as jobs`,
    );

  test.for(ROUTES)('change nothing: $method $path', async ({ method, path, mutation }, { service, admin, ann }) => {
    const { id } = await admin.creates('/reports', { name: 'Refused' });
    const appId = await createApp(admin, 'Refused');
    const services = await servicesFor(service, admin, appId);
    const url = path
      .replace(/\{(?:username|principalId)\}/, ann.username)
      .replace(/\{domain\}\/callback/, 'local/callback')
      .replace(/\{\w+\}/g, path.startsWith('/api/reports') ? id : appId);
    const body = method === 'GET' || method === 'DELETE' ? undefined : bodyOf(mutation);
    const before = await countRows(service);
    await expectError(callApi(services, method, url, body) as never, 403, REFUSAL);
    expect(await countRows(service)).toEqual(before);
  });
});

test('an update cannot change an owner, but may name the present one', async ({ service, admin, ann, bob }) => {
  const { id } = await ann.creates('/reports', { name: 'Mine' });
  const services = await servicesFor(service, ann, await createApp(admin, 'Owner'));
  const update = (ownerId: string) => callApi(services, 'PUT', `/api/reports/${id}`, { name: 'Renamed', ownerId });
  await expectError(update(bob.username) as never, 403, REFUSAL);
  await expectBody(ann.get(`/reports/${id}`), 200, { name: 'Mine', ownerId: ann.id });
  await expectBody(update('ann') as never, 200, { name: 'Renamed', ownerId: ann.id });
});

test('a library can be renamed and synced, but keeps its settings', async ({ service, admin, ann }) => {
  const { id } = await ann.creates('/libraries', { name: 'Papers', settings: { extensions: ['pdf'] } });
  const services = await servicesFor(service, ann, await createApp(admin, 'Settings'));
  const update = (body: object) => callApi(services, 'PUT', `/api/libraries/${id}`, body);
  for (const settings of [{ extensions: ['pdf', 'txt'] }, { extensions: ['pdf'], rootId: 'other' }, null])
    await expectError(update({ settings }) as never, 403, REFUSAL);
  const { settings } = (await ann.get(`/libraries/${id}`)).body;
  await expectBody(update({ name: 'Renamed', settings }) as never, 200, { name: 'Renamed', settings });
  await expectError(
    callApi(services, 'POST', `/api/libraries/${id}/_sync`, {}) as never,
    409,
    'The library has no integration',
  );
});

test('what a share of a dataset shows cannot change', async ({ service, admin, ann, bob }) => {
  const { body: dataset } = await ann.request('POST', '/api/datasets/_upload', createForm(ORDERS));
  const path = `/datasets/${dataset.id}`;
  const filter = await ann.creates(`${path}/filters`, { name: 'EU', criteria: { region: 'EU' } });
  const services = await servicesFor(service, ann, await createApp(admin, 'Shares'));
  const rename = (name: string) => callApi(services, 'PUT', `/api${path}/filters/${filter.id}`, { name });
  await expectBody(rename('Europe') as never, 200, { name: 'Europe' });
  const share = { accessLevel: 1, datasetFilterId: filter.id };
  await expectStatus(ann.put(`${path}/shares/${bob.id}`, share), 200);
  await expectError(rename('All') as never, 403, REFUSAL);
  const secure = callApi(services, 'PUT', `/api${path}`, { fieldSecurityEnabled: true });
  await expectError(secure as never, 403, REFUSAL);
  await expectBody(ann.get(`${path}/filters/${filter.id}`), 200, { name: 'Europe' });
  await expectBody(ann.get(path), 200, { fieldSecurityEnabled: false });
});

test('an address that an app sets gets no password links', async ({ service, admin, ann, anonymous }) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Address'));
  await expectStatus(callApi(services, 'PUT', '/api/me', { email: 'thief@example.com' }), 200);
  await expectStatus(anonymous.post('/password-reset', { username: 'ann' }), 204);
  const mails = await systemQuery<{ status: string }>(
    service,
    `select status from dws.mail where recipient = 'thief@example.com' and status = 'queued'`,
  );
  expect(mails).toEqual([]);
});

test('password links in the outbox are masked', async ({ service, admin, ann }) => {
  const id = await createMail(service, ann, { text: `Open ${RESET_LINK}` });
  const textIn = ({ body }: { body: any }): string =>
    body._embedded['svc:mail'].find((mail: { id: string }) => mail.id === id).text;
  expect(textIn(await admin.get('/outbox'))).toBe(`Open ${RESET_LINK}`);
  const services = await servicesFor(service, admin, await createApp(admin, 'Outbox'));
  const masked = 'Open http://127.0.0.1/password-reset/••••';
  expect(textIn(await callApi(services, 'GET', '/api/outbox'))).toBe(masked);
});
