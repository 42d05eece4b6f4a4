import { getNamedType, isInterfaceType, isLeafType, isObjectType } from 'graphql';
import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { recordRun } from '../../src/services/app/app-run-record.ts';
import { MODELS } from '../../src/services/assembly/model-registry.ts';
import { modelFor } from '../../src/services/resource/define-model.ts';
import { appOf, callOf } from '../app/record-fixture.ts';
import { addImage } from '../support/ai-records.ts';
import type { Client } from '../support/client.ts';
import { expectGraphqlError } from '../support/expect.ts';
import { createMail } from '../support/mail-fixture.ts';
import { notifyUser } from '../support/notification-fixture.ts';
import { test } from '../support/report-fixture.ts';
import type { Service } from '../support/service.ts';
import { recordStatements } from '../support/statement-log.ts';

const schema = await createSchema();
const node = schema.getType('Node');
const nodeTypes = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [];

/** Models that are not records of their own, with the reason. */
const NO_RECORDS: Readonly<Record<string, string>> = {
  FavoriteResource: 'a view of resources; its id is the id of the resource',
  FeedItem: 'a view of activities; its id is the id of the activity',
  Resource: 'a view of resources; its id is the id of the resource',
};

/** Fields with the object of an id that are named otherwise. */
const NAMED: Readonly<Record<string, string>> = {
  queryId: 'savedQuery',
  sourceDatasourceId: 'source',
  targetDatasourceId: 'target',
  'SearchHit.resourceId': 'node',
};

/** Ids without an object, with the reason. */
const WITHOUT_OBJECT: Readonly<Record<string, string>> = {
  'AuditEvent.requestId': 'requests are not stored',
  'AppLog.requestId': 'requests are not stored',
  'AvatarUpload.uploadId': 'a name that the client chooses',
  'ClientDocument.documentId': 'a name that the manifest of the client chooses',
  'Job.sourceId': 'a free text that names the creator of the job',
  'IdentityProvider.clientId': 'it names this service at the provider',
  'Integration.clientId': 'it names this service at the provider',
  'DriveAccount.accountId': 'it names the account at the provider',
  'LibraryFile.fileId': 'it names the file at the provider',
  'LibrarySyncChange.fileId': 'it names the file at the provider',
  'LibrarySyncError.fileId': 'it names the file at the provider',
  'Principal.qualifiedId': 'it identifies the principal itself',
  'RefreshPreview.previewId': 'a preview is only an argument of `promoteRefresh`',
  'WebhookCall.requestId': 'requests are not stored',
  naturalId: 'it identifies the object itself',
};

test('every stored type with an id is a node', ({ service }) => {
  expect(service.url).toBeTruthy();
  const stored = MODELS.map(({ entity }) => modelFor(entity).name).filter((name) => {
    const type = schema.getType(name);
    return isObjectType(type) && 'id' in type.getFields() && !(name in NO_RECORDS);
  });
  expect(stored.length).toBeGreaterThan(20);
  expect(stored.filter((name) => !nodeTypes.includes(name))).toEqual([]);
});

test('every id has a field with its object, or a reason for having none', () => {
  const ids = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) =>
      Object.keys(type.getFields())
        .filter((name) => name.endsWith('Id'))
        .map((name) => ({ type, name, at: `${type.name}.${name}` })),
    );
  const missing = ids.filter(({ type, name, at }) => {
    if (at in WITHOUT_OBJECT || name in WITHOUT_OBJECT) return false;
    const object = type.getFields()[NAMED[at] ?? NAMED[name] ?? name.replace(/Id$/, '')];
    return !object || isLeafType(getNamedType(object.type));
  });
  expect(missing.map(({ at }) => at)).toEqual([]);
  expect(ids.length).toBeGreaterThan(30);
});

/** Creates a record of each type that no root field looks up. Returns their ids by type, and who may read them. */
async function createRecords(
  service: Service,
  ann: Client,
  admin: Client,
  source: string,
  orders: string,
  reportId: string,
) {
  const team = await admin.creates('/teams', { name: 'Readers' });
  await admin.put(`/teams/${team.id}/members/ann`, { role: 'member' });
  const tag = await ann.creates('/tags', { name: 'Sales' });
  await ann.put(`/datasets/${orders}/tags/${tag.id}`);
  await ann.put(`/datasets/${orders}/shares/team:${team.id}`, { accessLevel: 1 });
  await ann.put(`/datasets/${orders}/favorite`);
  await ann.creates(`/datasources/${source}/links`, { targetDatasourceId: source, type: 'lookup' });
  await ann.creates(`/datasets/${orders}/visuals`, { component: 'table', name: 'Table', config: {} });
  await ann.creates(`/datasets/${orders}/filters`, { name: 'All', criteria: {} });
  const { dataset, datasource, report, tokens, notifications, me } = await ann.data(`{
    dataset(id: "${orders}") {
      visuals { id } filters { id } shares { id } favorite { id } tagAssignments { id } activity { items { id } }
    }
    datasource(id: "${source}") { links { id } }
    report(id: "${reportId}") { datasetReferences { id } }
    tokens { id }
    notifications { items { id } }
    me { memberships { id } }
  }`);
  const job = await ann.creates('/jobs', { name: 'Nightly', type: 'actions', datasets: { orders } });
  const action = await ann.creates(`/jobs/${job.id}/actions`, {
    type: 'refresh',
    name: 'Load',
    data: { alias: 'orders' },
  });
  const conditions = `/jobs/${job.id}/actions/${action.id}/job-action-run-conditions`;
  const condition = await ann.creates(conditions, { type: 'always' });
  const { job: withDatasets } = await ann.data(`{ job(id: "${job.id}") { datasets { id } } }`);
  const template = await ann.creates('/templates', { name: 'Letter' });
  const file = await ann.creates(`/templates/${template.id}/files`, { filename: 'letter.njk', role: 'TEMPLATE' });
  const [input] = (await ann.put(`/templates/${template.id}/inputs`, { inputs: [{ name: 'to' }] })).body._embedded[
    'svc:template-input'
  ];
  const processors = [{ name: 'orders', type: 'dataset', config: { datasetId: orders } }];
  const [processor] = (await ann.put(`/templates/${template.id}/processors`, { processors })).body._embedded[
    'svc:template-processor'
  ];
  const app = await admin.creates('/apps', { name: 'Desk', ownerId: ann.id });
  await ann.request('PUT', `/api/apps/${app.id}/files/a.js`, '1', { 'content-type': 'text/javascript' });
  await ann.post(`/apps/${app.id}/_deploy`);
  const logs = [{ level: 'info', text: 'Hello' }] as const;
  await recordRun(service.platform, callOf(await appOf(service, app.id), {}, { logs }));
  const { app: withFile } = await ann.data(`{ app(id: "${app.id}") {
    file(path: "a.js") { id } releases { id } webhookCalls { items { id } } logs { items { id } }
  } }`);
  const { imageId, callId } = await addImage(service, ann);
  const provider = await admin.creates('/ai-providers', { name: 'Models', baseUrl: 'https://ai.example.com/v1' });
  const comment = await ann.creates(`/teams/${team.id}/comments`, { message: 'Hello' });
  const { auditEvents, outbox } = await admin.data('{ auditEvents { items { id } } outbox { items { id } } }');
  return {
    private: {
      Image: imageId,
      Visual: dataset.visuals[0].id,
      SavedFilter: dataset.filters[0].id,
      Share: dataset.shares[0].id,
      Favorite: dataset.favorite.id,
      TagAssignment: dataset.tagAssignments[0].id,
      Activity: dataset.activity.items[0].id,
      DatasourceLink: datasource.links[0].id,
      DatasetReference: report.datasetReferences[0].id,
      ApiToken: tokens[0].id,
      Notification: notifications.items[0].id,
      TeamComment: comment.id,
      Job: job.id,
      JobDataset: withDatasets.datasets[0].id,
      JobAction: action.id,
      JobActionCondition: condition.id,
      Template: template.id,
      TemplateFile: file.id,
      TemplateInput: input.id,
      TemplateProcessor: processor.id,
      AppFile: withFile.file.id,
      AppRelease: withFile.releases[0].id,
      AppLog: withFile.logs.items[0].id,
      WebhookCall: withFile.webhookCalls.items[0].id,
    },
    ofTenant: { AiProvider: provider.id, Membership: me.memberships[0].id },
    ofSuperusers: { AiCall: callId, AuditEvent: auditEvents.items[0].id, Mail: outbox.items[0].id },
  };
}

describe('node(id) and _entities', () => {
  test('find every record for the callers who may read it, and for no others', async ({
    ann,
    bob,
    admin,
    stranger,
    service,
    source,
    orders,
    report,
    attach,
  }) => {
    const reportId = await report();
    await attach(reportId);
    await notifyUser(service, ann, 'Hello');
    await createMail(service, ann);
    const records = await createRecords(service, ann, admin, source.id, orders.id, reportId);
    const find = `query ($id: ID!, $references: [_Any!]!) {
      node(id: $id) { __typename id } _entities(representations: $references) { __typename ... on Node { id } }
    }`;
    const expectFound = async (client: Client, typename: string, id: string) => {
      const found = { __typename: typename, id };
      expect(await client.data(find, { id, references: [found] }), typename).toEqual({
        node: found,
        _entities: [found],
      });
    };
    const expectMissing = async (client: Client, typename: string, id: string) => {
      const result = client.gql(find, { id, references: [{ __typename: typename, id }] });
      await expectGraphqlError(result, 'NOT_FOUND', `There is no resource ${id}`);
      expect((await result).data, typename).toEqual({ node: null, _entities: [null] });
    };
    const session = await service.login('ann');
    const { sessions } = await session.data('{ sessions { id } }');
    for (const [typename, id] of Object.entries({ ...records.private, Session: sessions[0].id })) {
      await expectFound(ann, typename, id);
      await expectMissing(bob, typename, id);
      await expectMissing(stranger, typename, id);
    }
    for (const [typename, id] of Object.entries(records.ofTenant)) {
      await expectFound(bob, typename, id);
      await expectMissing(stranger, typename, id);
    }
    for (const [typename, id] of Object.entries(records.ofSuperusers)) {
      await expectFound(admin, typename, id);
      await expectMissing(ann, typename, id);
      await expectMissing(stranger, typename, id);
    }
  });

  test('a restricted reader finds the visual, but neither shares nor activities', async ({
    ann,
    bob,
    orders,
    restrictBob,
  }) => {
    await ann.creates(`/datasets/${orders.id}/visuals`, { component: 'table', name: 'Seen', config: {} });
    await restrictBob({ region: 'EU' });
    const { dataset } = await ann.data(
      `{ dataset(id: "${orders.id}") { visuals { id } shares { id } activity { items { id } } } }`,
    );
    const { data } = await bob.gql(`{
      visual: node(id: "${dataset.visuals[0].id}") { ... on Visual { dataset { id } config } }
      share: node(id: "${dataset.shares[0].id}") { id }
      activity: node(id: "${dataset.activity.items[0].id}") { id }
    }`);
    expect(data).toEqual({ visual: { dataset: { id: orders.id }, config: {} }, share: null, activity: null });
  });
});

describe('relations', () => {
  const MAX_ITEMS = 30;

  test('lead both ways, as far as the caller may read', async ({ admin, ann, bob, source }) => {
    const folder = await admin.creates('/folders', { name: 'Folder' });
    const tag = await ann.creates('/tags', { name: 'Tag' });
    const owned = { datasourceId: source.id, query: 'select 1 as one', folderId: folder.id, tags: [tag.id] };
    const query = await ann.creates('/queries', { name: 'One', ...owned });
    const dataset = await ann.creates('/datasets', { name: 'Follower', queryId: query.id });
    await ann.put(`/queries/${query.id}/shares/bob`, { accessLevel: 1 });
    const document = `{
      savedQuery(id: "${query.id}") { datasource { id } datasets { items { id savedQuery { id } } } assignedTags { name } }
      folder(id: "${folder.id}") { resources { total items { kind name node { ... on SavedQuery { query } } } } }
      tag(id: "${tag.id}") { resources { items { id } } creator { username } }
    }`;
    const resource = { kind: 'QUERY', name: 'One', node: { query: 'select 1 as one' } };
    const expected = {
      savedQuery: {
        datasource: { id: source.id },
        datasets: { items: [{ id: dataset.id, savedQuery: { id: query.id } }] },
        assignedTags: [{ name: 'Tag' }],
      },
      folder: { resources: { total: 1, items: [resource] } },
      tag: { resources: { items: [{ id: query.id }] }, creator: { username: 'ann' } },
    };
    expect(await ann.data(document)).toMatchObject(expected);
    // bob may read the query, but neither its datasource nor the dataset that follows it.
    expect(await bob.data(document)).toMatchObject({
      ...expected,
      savedQuery: { datasource: null, datasets: { items: [] }, assignedTags: [{ name: 'Tag' }] },
    });
  });

  test('of a page of 30 take as many statements as relations of one record', async ({
    admin,
    ann,
    service,
    source,
    orders,
  }) => {
    const folder = await admin.creates('/folders', { name: 'Many' });
    const tag = await ann.creates('/tags', { name: 'Many' });
    const owned = { datasourceId: source.id, query: 'select 1 as one', folderId: folder.id, tags: [tag.id] };
    for (let item = 0; item < MAX_ITEMS; item++) {
      const { id } = await ann.creates('/queries', { name: `Many ${item}`, ...owned });
      await ann.put(`/queries/${id}/favorite`);
      await ann.creates(`/datasets/${orders.id}/visuals`, { component: 'table', name: `Many ${item}`, config: {} });
    }
    const statementsOf = async (limit: number): Promise<number> => {
      const { result, statements } = await recordStatements(service, () =>
        ann.data(`{
          savedQueries(tag: "Many", limit: ${limit}) {
            items {
              datasource { name } folder { name } owner { name } datasets { items { id } }
              assignedTags(limit: 5) { name } tagAssignments(limit: 5) { resource { id } }
            }
          }
          favorites(limit: ${limit}) { items { node { id ... on SavedQuery { datasource { name } } } } }
          search(q: "Many", kinds: [QUERY], limit: ${limit}) { items { owner { name } node { id } } }
          tag(id: "${tag.id}") { resources(limit: ${limit}) { items { node { id } } } }
          dataset(id: "${orders.id}") { visuals(limit: ${limit}) { dataset { name } owner { username } } }
        }`),
      );
      expect(result.savedQueries.items).toHaveLength(limit);
      expect(result.tag.resources.items).toHaveLength(limit);
      expect(result.dataset.visuals).toHaveLength(limit);
      return statements.length;
    };
    const one = await statementsOf(1);
    expect(await statementsOf(MAX_ITEMS)).toBe(one);
    expect(one).toBeLessThan(25);
  });
});
