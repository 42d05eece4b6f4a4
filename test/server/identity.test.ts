import { getNamedType, isNonNullType } from 'graphql';
import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { recordRun } from '../../src/services/app/app-run-record.ts';
import { deployApp } from '../app/echo-app.ts';
import { appOf, callOf } from '../app/record-fixture.ts';
import { addFile, connect, createIntegration, createLibrary } from '../library/library-fixture.ts';
import { addAgentRun, addImage } from '../support/ai-records.ts';
import type { Client } from '../support/client.ts';
import { chargeOf } from '../support/credit-fixture.ts';
import { expectStatus } from '../support/expect.ts';
import { createMail } from '../support/mail-fixture.ts';
import { toolNamed } from '../support/mcp-server.ts';
import { notifyPrincipals } from '../support/notification-fixture.ts';
import { COUNT } from '../support/report-blocks.ts';
import { test } from '../support/report-fixture.ts';
import { recordsIn, recordTypes, selectRecords, type FoundRecord } from '../support/select-records.ts';
import type { Service } from '../support/service.ts';
import { meterIn, tenantOf } from '../support/usage-fixture.ts';
import { STDIO } from '../toolkit/toolkit-fixture.ts';

const schema = await createSchema();

/** Types of records that no query returns, with the reason. */
const NOT_QUERIED: Readonly<Record<string, string>> = {
  JobDraft: 'only the mutation that creates a draft returns it',
  NewApiToken: 'only the mutation that creates a token returns it, with its secret',
};

/** Root fields that the test cannot call without arguments. */
const ARGUMENTS: Readonly<Record<string, string>> = { search: '(q: "Twin", limit: 20)' };

const PROVIDER = { name: 'Twin', issuer: 'https://login.example.com', clientId: 'twin' };

const codesOf = (errors: { extensions: { code: string } }[] = []) => [
  ...new Set(errors.map((one) => one.extensions.code)),
];

/** Creates two of every kind, with equal names, aliases and blocks. */
async function createTwins(service: Service, ann: Client, admin: Client, source: string, orders: { id: string }) {
  const team = await admin.creates('/teams', { name: 'Twin' });
  const folder = await admin.creates('/folders', { name: 'Twin' });
  const tag = await ann.creates('/tags', { name: 'Twin' });
  await admin.creates('/folders', { name: 'Twin', parentId: folder.id });
  await ann.creates('/tags', { name: 'Other' });
  await admin.creates('/teams', { name: 'Twin two' });
  for (let twin = 0; twin < 2; twin++) {
    const owned = { name: 'Twin', tags: [tag.id], folderId: folder.id };
    await admin.creates('/suites', { name: 'Twin', datasourceIds: [source] });
    const operations = [{ id: 'twin', name: 'Twin', type: 'query', body: 'query Twin { me { id } }' }];
    const manifest = { format: 'apollo-persisted-query-manifest', version: 1, operations };
    await expectStatus(admin.post(`/clients/twin${twin}/documents`, manifest), 200);
    const app = await admin.creates('/apps', { ...owned, ownerId: ann.id });
    await ann.request('PUT', `/api/apps/${app.id}/files/twin.js`, '1', { 'content-type': 'text/javascript' });
    await ann.post(`/apps/${app.id}/_deploy`);
    const logs = [{ level: 'info', text: 'Twin' }] as const;
    await recordRun(service.platform, callOf(await appOf(service, app.id), {}, { logs }));
    await ann.creates('/queries', { ...owned, datasourceId: source, query: 'select 1 as one' });
    await ann.creates(`/datasources/${source}/links`, {
      targetDatasourceId: source,
      type: twin ? 'lookup' : 'foreign-key',
    });
    await ann.creates(`/datasets/${orders.id}/visuals`, { component: 'table', name: 'Twin', config: {} });
    const filter = await ann.creates(`/datasets/${orders.id}/filters`, { name: 'Twin', criteria: {} });
    const blocks = [{ id: 'twin', type: `metric${twin}`, dataset: 'twin', ...COUNT }];
    const report = await ann.creates('/reports', { ...owned, definition: { blocks } });
    const reference = { reportId: report.id, datasetId: orders.id, alias: 'twin', label: `Twin ${twin}` };
    await ann.creates(`/reports/${report.id}/dataset-refs`, reference);
    await ann.put(`/reports/${report.id}/shares/team:${team.id}`, { accessLevel: 1 });
    await ann.put(`/reports/${report.id}/favorite`);
    await ann.put(`/datasets/${orders.id}/shares/${twin ? 'bob' : `team:${team.id}`}`, {
      accessLevel: 1,
      datasetFilterId: filter.id,
    });
    await ann.post(`/datasets/${orders.id}/_refresh`, {});
    const job = `/jobs/${(await ann.creates('/jobs', { ...owned, type: 'actions', datasets: { twin: orders.id } })).id}`;
    const data = { recipients: ['ann'], message: 'Twin' };
    const action = await ann.creates(`${job}/actions`, { type: 'notify', name: 'Twin', data });
    await ann.creates(`${job}/actions/${action.id}/job-action-run-conditions`, { type: 'always' });
    await ann.post(job);
    const template = `/templates/${(await ann.creates('/templates', owned)).id}`;
    await ann.creates(`${template}/files`, { filename: 'twin.njk', role: 'TEMPLATE' });
    await ann.post(`${template}/_render`);
    await ann.put(`${template}/inputs`, { inputs: [{ name: 'twin', label: `Twin ${twin}` }] });
    const processor = { name: 'rows', type: 'dataset', config: { datasetId: orders.id, limit: twin + 1 } };
    await ann.put(`${template}/processors`, { processors: [processor] });
    await ann.creates(`${template}/_edit`, undefined);
    await admin.creates('/toolkits', {
      ...owned,
      ownerId: ann.id,
      type: 'mcp-stdio',
      config: STDIO,
      tools: [toolNamed('twin')],
    });
    const { id: integrationId } = await createIntegration(admin, { name: 'Twin' });
    const library = await createLibrary(admin, { ...owned, integrationId, ownerId: ann.id });
    await connect(service, ann, library.id, integrationId);
    await addFile(service, library.id, { path: 'twin.txt' });
    await admin.put(`/teams/${team.id}/members/${twin ? 'ann' : 'bob'}`, { role: 'member' });
    await admin.creates(`/teams/${team.id}/comments`, { message: 'Twin' });
  }
}

describe('two of everything', () => {
  const found: FoundRecord[] = [];

  test('distinct records of a type have distinct ids', async ({ ann, bob, admin, service, source, orders }) => {
    expect(bob.username).toBe('bob');
    await createTwins(service, ann, admin, source.id, orders);
    await createMail(service, ann);
    const models = [{ id: 'draw', kind: 'image', tier: 'everyday', price: 0.04 }];
    for (let twin = 0; twin < 2; twin++) {
      await addImage(service, ann);
      const assistant = await ann.creates('/assistants', { name: 'Twin' });
      const agent = await ann.creates('/agents', { name: 'Twin', assistantId: assistant.id });
      await addAgentRun(service, agent.id);
      await meterIn(service, await tenantOf(service), [chargeOf(`agent:${agent.id}`, '1', { payer: ann.id })]);
      await admin.creates('/ai-providers', { name: 'Twin', baseUrl: 'https://ai.example.com/v1', models });
    }
    const resource = { kind: 'dataset', id: orders.id } as const;
    for (let twin = 0; twin < 2; twin++) await notifyPrincipals(service, [`user:${ann.id}`], { resource });
    const session = await service.login('ann');
    await service.login('ann');
    await session.creates('/tokens', { name: 'Twin' });
    const superuser = await service.login(admin.username);
    for (let twin = 0; twin < 2; twin++) {
      const app = await deployApp(admin, 'Twin', { 'server/x.js': 'export const get = () => ({});' });
      await admin.put(`/apps/${app}`, { ownerId: ann.id });
      await superuser.put(`/me/app-grants/${app}`, { scopes: [] });
    }
    for (const domain of ['twin', 'other']) await superuser.creates('/identity-providers', { ...PROVIDER, domain });
    const callers = {
      aiCalls: admin,
      apiClients: admin,
      appGrants: superuser,
      auditEvents: admin,
      usageEvents: admin,
      usageProfiles: admin,
      outbox: admin,
      identityProviders: superuser,
    };
    for (const field of Object.values(schema.getQueryType()!.getFields())) {
      if (!(field.name in ARGUMENTS) && field.args.some(({ type }) => isNonNullType(type))) continue;
      const limit = field.args.some(({ name }) => name === 'limit') ? '(limit: 20)' : '';
      const selection = selectRecords(getNamedType(field.type), 2);
      if (field.name.startsWith('_') || selection === '__typename') continue;
      const caller = (callers as Record<string, Client>)[field.name] ?? ann;
      const { data, errors } = await caller.gql(`{ ${field.name}${ARGUMENTS[field.name] ?? limit} { ${selection} } }`);
      expect(codesOf(errors)).toEqual(errors ? ['FORBIDDEN'] : []);
      found.push(...recordsIn(data).map((record) => ({ ...record, key: `${caller.username} ${record.key}` })));
    }
    const values = new Map<string, Record<string, unknown>>();
    for (const record of found) {
      const known = values.get(record.key) ?? {};
      for (const [name, value] of Object.entries(record.values))
        if (name in known) expect([record.key, name, known[name]]).toEqual([record.key, name, value]);
      values.set(record.key, { ...known, ...record.values });
    }
  });

  test('every type with an id is among them', () => {
    const seen = new Set(found.map(({ typename }) => typename));
    const missing = recordTypes(Object.values(schema.getTypeMap()))
      .map(({ name }) => name)
      .filter((name) => !seen.has(name) && !(name in NOT_QUERIED));
    expect(missing).toEqual([]);
  });
});
