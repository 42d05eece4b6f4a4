import { describe, expect } from 'vitest';
import { ACTIVITY_TYPES } from '../../src/core/activity.ts';
import { startDriveFake } from '../../tools/drive-fake.ts';
import { FIXTURES, namesOf, OWNED_PATHS } from '../conformance/fixtures.ts';
import { openCallback, test } from '../connection/connection-fixture.ts';
import { connect, createIntegration, createLibrary } from '../library/library-fixture.ts';
import { readActivities, readAuditActions, readStoredActivities } from '../support/activity.ts';
import { authorizeInBrowser, startAuthorizationServer } from '../support/authorization-server.ts';
import { pictureForm } from '../support/avatar-fixture.ts';
import { BrowserSession } from '../support/browser-session.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { pngOf, RED } from '../support/picture-files.ts';
import { configOf } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';
import { startProtectedMcpServer } from '../support/protected-mcp-server.ts';
import { runSql } from '../support/run-sql.ts';
import { systemQuery } from '../support/system-query.ts';

describe.each(OWNED_PATHS)('the activity of one of the %s', (kind) => {
  const { word } = namesOf(kind);

  test('contains every change with its user, latest first', async ({ admin, ann, bob }) => {
    const id = await FIXTURES[kind]!.create(admin, `changed ${kind}`);
    const path = `/${kind}/${id}`;
    const [tag, folder] = [
      await admin.creates('/tags', { name: `changed ${kind}` }),
      await admin.creates('/folders', { name: `Changed ${kind}` }),
    ];
    expect(await admin.put(path, { name: 'Sales', description: 'Of the year' })).toMatchObject({ status: 200 });
    const isLibrary = kind === 'libraries';
    const [low, high] = isLibrary ? [0, 1] : [2, 3];
    await admin.put(`${path}/shares/ann`, { accessLevel: low });
    await admin.put(`${path}/shares/${ann.id}`, { accessLevel: high });
    const [actor, name] = isLibrary ? [admin, 'admin'] : [ann, 'ann'];
    await actor.put(`${path}/tags/${tag.id}`);
    await actor.delete(`${path}/tags/${tag.id}`);
    await admin.put(path, { folderId: folder.id });
    await admin.post('/folders/_bulk-assign', { entities: [id], folderId: null });
    await actor.delete(`${path}/shares/ann`);
    await admin.put(`${path}/owner`, { ownerId: 'bob' });

    expect(
      (await readActivities(bob, path)).map(({ type, userId, message, data }) => [type, userId, message, data]),
    ).toEqual([
      [`${word}.owner.changed`, admin.id, 'admin gave Sales to bob', { from: admin.id, to: bob.id }],
      [`${word}.unshared`, actor.id, `${name} stopped sharing Sales with ann`, { principalId: ann.id }],
      [`${word}.folder.moved`, admin.id, 'admin took Sales out of its folder', { folderId: null }],
      [`${word}.folder.moved`, admin.id, `admin moved Sales to the folder Changed ${kind}`, { folderId: folder.id }],
      [`${word}.untagged`, actor.id, `${name} took the tag changed ${kind} off Sales`, { tagId: tag.id }],
      [`${word}.tagged`, actor.id, `${name} tagged Sales with changed ${kind}`, { tagId: tag.id }],
      [
        `${word}.shared`,
        admin.id,
        `admin shared Sales with ann (${isLibrary ? 'View' : 'Admin'})`,
        { principalId: ann.id, accessLevel: high },
      ],
      [
        `${word}.shared`,
        admin.id,
        `admin shared Sales with ann (${isLibrary ? 'None' : 'Edit'})`,
        { principalId: ann.id, accessLevel: low },
      ],
      [`${word}.updated`, admin.id, 'admin changed name and description of Sales', { fields: ['name', 'description'] }],
      [`${word}.created`, admin.id, `admin created changed ${kind}`, {}],
    ]);
  });

  test('is stored after the deletion of the resource and of its owner', async ({ admin, service }) => {
    const leaving = await service.user(`leaver-${kind}`);
    const id = await FIXTURES[kind]!.create(admin, `gone ${kind}`, `user:${leaving.id}`);
    await admin.delete(`/users/leaver-${kind}`);
    await admin.delete(`/${kind}/${id}`);
    expect((await readStoredActivities(service, id)).map(({ type, message, owner }) => [type, message, owner])).toEqual(
      [
        [`${word}.created`, `admin created gone ${kind}`, `user:${leaving.id}`],
        [`${word}.owner.changed`, `admin gave gone ${kind} to admin`, `user:${admin.id}`],
        [`${word}.deleted`, `admin deleted gone ${kind}`, `user:${admin.id}`],
      ],
    );
  });
});

test('an activity contains the names of secret or textual fields, not their values', async ({ admin, service }) => {
  const datasource = await FIXTURES['datasources']!.create(admin, 'discreet source');
  await admin.put(`/datasources/${datasource}`, {
    config: { host: 'db.hidden.example', port: 1, database: 'd', user: 'u' },
    secrets: { password: 'hidden-password' },
  });
  const app = (await admin.creates('/apps', { name: 'Discreet', env: { KEY: 'hidden-value' } })).id;
  await admin.put(`/apps/${app}`, { env: { KEY: '••••' } });
  await admin.put(`/apps/${app}`, { env: { KEY: 'hidden-too' } });
  const toolkit = await FIXTURES['toolkits']!.create(admin, 'discreet tools');
  await admin.put(`/toolkits/${toolkit}`, { config: { command: 'npx', env: { TOKEN: 'hidden-token' } } });
  const dataset = await FIXTURES['datasets']!.create(admin, 'discreet set');
  await admin.put(`/datasets/${dataset}`, { query: 'select 2 as hidden_column', flow: [{ type: 'limit', n: 7 }] });

  expect((await readActivities(admin, `/datasources/${datasource}`))[0]).toMatchObject({
    type: 'datasource.connection.changed',
    message: 'admin changed the connection of discreet source',
    data: { fields: ['config', 'secrets'] },
  });
  expect((await readActivities(admin, `/toolkits/${toolkit}`))[0]).toMatchObject({
    type: 'toolkit.config.changed',
    message: 'admin changed the config of discreet tools',
    data: { fields: ['config', 'sealedSecrets'] },
  });
  expect((await readActivities(admin, `/apps/${app}`)).map(({ type, data }) => [type, data])).toEqual([
    ['app.updated', { fields: ['env'] }],
    ['app.created', {}],
  ]);
  expect((await readActivities(admin, `/datasets/${dataset}`))[0]).toMatchObject({
    type: 'dataset.updated',
    data: { fields: ['query', 'flow'] },
  });
  const all = await service.platform.system.query({ text: 'select * from dws.activity' });
  expect(JSON.stringify(all)).not.toMatch(/hidden/);
});

test('successful and failed refreshes have activities without texts of the source', async ({ admin, service }) => {
  const source = await createDatabase('template0');
  await runSql(source.url, `create table hidden_table as select id from generate_series(1, 3) id`);
  try {
    const datasourceId = (
      await admin.creates('/datasources', { name: 'Source', type: 'postgres', ...configOf(source.url) })
    ).id;
    const { id } = await admin.creates('/datasets', {
      name: 'Numbers',
      datasourceId,
      query: 'select id from hidden_table',
      refresh: true,
    });
    await admin.put(`/datasets/${id}`, { query: 'select id / 0 from hidden_table' });
    expect(await admin.post(`/datasets/${id}/_refresh`, {})).toMatchObject({ status: 500 });
    expect((await readStoredActivities(service, id)).map(({ type, message, data }) => [type, message, data])).toEqual([
      ['dataset.created', 'admin created Numbers', {}],
      ['dataset.refreshed', 'admin refreshed Numbers', { records: 3, duration: expect.any(Number) }],
      ['dataset.updated', 'admin changed query of Numbers', { fields: ['query'] }],
      [
        'dataset.refresh.failed',
        'A refresh of Numbers by admin failed',
        { code: 'UPSTREAM_FAILED', duration: expect.any(Number) },
      ],
    ]);
  } finally {
    await source.drop();
  }
});

test('copies and snapshots have activities of their dataset and audit events', async ({ admin }) => {
  const source = await createDatabase('template0');
  try {
    const datasourceId = (
      await admin.creates('/datasources', { name: 'Source', type: 'postgres', ...configOf(source.url) })
    ).id;
    const { id } = await admin.creates('/datasets', {
      name: 'Kept',
      datasourceId,
      query: 'select 1 as one',
      refresh: true,
    });
    const copy = await admin.creates(`/datasets/${id}/copy`, { name: 'Copy' });
    const path = `/datasets/${id}/snapshots`;
    const [may, june] = [await admin.creates(path, { name: 'May' }), await admin.creates(path, { name: 'June' })];
    expect(await admin.post(`${path}/${may.id}/promote`, { name: 'Free' })).toMatchObject({ status: 200 });
    expect(await admin.delete(`${path}/${june.id}`)).toMatchObject({ status: 204 });
    expect(
      (await readActivities(admin, `/datasets/${id}`)).slice(0, 5).map(({ type, message }) => [type, message]),
    ).toEqual([
      ['dataset.snapshot.deleted', 'admin deleted the snapshot June of Kept'],
      ['dataset.snapshot.promoted', 'admin promoted the snapshot May of Kept'],
      ['dataset.snapshot.created', 'admin created the snapshot June of Kept'],
      ['dataset.snapshot.created', 'admin created the snapshot May of Kept'],
      ['dataset.copied', 'admin copied Kept'],
    ]);
    expect((await readActivities(admin, `/datasets/${copy.id}`)).map(({ type, message }) => [type, message])).toEqual([
      ['dataset.created', 'admin created Copy'],
    ]);
    expect((await readActivities(admin, `/datasets/${may.id}`)).map(({ message }) => message)).toEqual([
      'admin created Free',
      'admin created May',
    ]);
    expect(await readAuditActions(admin, id)).toEqual([
      'deleteSnapshot',
      'promoteSnapshot',
      'createSnapshot',
      'createSnapshot',
      'copyDataset',
      'createDataset',
    ]);
  } finally {
    await source.drop();
  }
});

test('a team has activities for its changes and its members', async ({ admin, ann, bob, service }) => {
  const { id } = await admin.creates('/teams', { name: 'Readers' });
  await admin.put(`/teams/${id}`, { description: 'They read' });
  await admin.put(`/teams/${id}/members/bob`, { role: 'member' });
  await admin.put(`/teams/${id}/members/bob`, { role: 'admin' });
  await bob.creates(`/teams/${id}/comments`, { message: 'Hello' });
  await bob.delete(`/teams/${id}/members/bob`);
  await admin.delete(`/teams/${id}`);
  const stored = await readStoredActivities(service, id);
  expect(stored.map(({ type, message, data }) => [type, message, data])).toEqual([
    ['team.created', 'admin created Readers', {}],
    ['team.updated', 'admin changed description of Readers', { fields: ['description'] }],
    ['team.member.added', 'admin added bob to Readers as member', { userId: bob.id, role: 'member' }],
    [
      'team.member.role.changed',
      'admin changed the role of bob in Readers to admin',
      { userId: bob.id, role: 'admin' },
    ],
    ['team.member.removed', 'bob left Readers', { userId: bob.id }],
    ['team.deleted', 'admin deleted Readers', {}],
  ]);
  expect(new Set(stored.map(({ owner }) => owner))).toEqual(new Set([`team:${id}`]));
  expect(await ann.get('/session')).toMatchObject({ status: 200 });
});

test('the commit of a draft has one activity with the changed fields', async ({ admin, service }) => {
  const id = await FIXTURES['datasets']!.create(admin, 'Drafted');
  expect(await admin.put(`/datasets/${id}/draft`, { settings: { color: 'red' }, name: 'Done' })).toMatchObject({
    status: 200,
  });
  expect(await admin.post(`/datasets/${id}/draft/_commit`)).toMatchObject({ status: 200 });
  expect((await readStoredActivities(service, id)).map(({ type, message, data }) => [type, message, data])).toEqual([
    ['dataset.created', 'admin created Drafted', {}],
    ['dataset.draft.committed', 'admin committed a draft of Done', { fields: ['name', 'settings'] }],
  ]);
});

test('the commit of the draft of a job has one activity, and its changes before that none', async ({
  admin,
  service,
}) => {
  const id = await FIXTURES['jobs']!.create(admin, 'Planned');
  const { body: draft } = await admin.post(`/jobs/${id}/_edit`);
  expect(await admin.put(`/jobs/${draft.id}`, { notes: 'New', name: 'Done' })).toMatchObject({ status: 200 });
  expect(await admin.post(`/jobs/${draft.id}/_commit`)).toMatchObject({ status: 200 });
  expect((await readStoredActivities(service, id)).map(({ type, message, data }) => [type, message, data])).toEqual([
    ['job.created', 'admin created Planned', {}],
    ['job.draft.committed', 'admin committed a draft of Done', { fields: ['name', 'notes'] }],
  ]);
  expect(await readStoredActivities(service, draft.id)).toEqual([]);
});

test('a failed run of a job is an activity of the job', async ({ admin, service }) => {
  const id = await FIXTURES['jobs']!.create(admin, 'Failing');
  const add = async (type: string, data: object): Promise<string> =>
    (await admin.creates(`/jobs/${id}/actions`, { type, name: type, data })).id;
  // A mail cannot attach a file that there is not.
  const notify = await add('notify', { recipients: ['admin'], message: 'Hello' });
  await add('email', { recipients: ['a@example.org'], subject: 'Hello', body: '', attach: [notify] });
  expect(await admin.post(`/jobs/${id}`)).toMatchObject({ status: 200, body: { success: false } });
  expect((await readStoredActivities(service, id)).at(-1)).toMatchObject({
    type: 'job.run.failed',
    message: 'A run of Failing failed',
  });
});

/** Authorizes a connection as a user does, in a browser with a session of the service. */
async function authorize(session: Client, path: string): Promise<void> {
  const { body } = await session.post(`${path}/connection/_authorize`);
  const callback = await authorizeInBrowser(new BrowserSession(), body.url, 'admin-elsewhere');
  expect((await openCallback(session, callback)).status).toBe(302);
}

test('a library and a toolkit have activities when a connection is authorized and ended', async ({
  admin,
  service,
}) => {
  const session = await service.login('admin');
  const drive = await startAuthorizationServer(`${service.url}/api/oauth/callback`);
  const mcp = await startProtectedMcpServer();
  try {
    const { id: integrationId } = await admin.creates('/integrations', drive.integration());
    const library = await createLibrary(admin, { integrationId });
    const config = { url: mcp.mcpUrl, transport: 'http' };
    const { id } = await admin.creates('/toolkits', { name: 'Remote', type: 'mcp-remote', config });
    for (const path of [library.path, `/toolkits/${id}`]) {
      await authorize(session, path);
      await expectStatus(admin.delete(`${path}/connection`), 204);
    }
    const eventsOf = async (path: string) =>
      (await readActivities(admin, path)).map(({ type, userId, message }) => [type, userId, message]);
    expect(await eventsOf(library.path)).toEqual([
      ['library.disconnected', admin.id, 'admin disconnected Papers'],
      ['library.connected', admin.id, 'admin connected Papers'],
      ['library.created', admin.id, 'admin created Papers'],
    ]);
    expect(await eventsOf(`/toolkits/${id}`)).toEqual([
      ['toolkit.disconnected', admin.id, 'admin disconnected Remote'],
      ['toolkit.connected', admin.id, 'admin connected Remote'],
      ['toolkit.created', admin.id, 'admin created Remote'],
    ]);
  } finally {
    await drive.close();
    await mcp.close();
  }
});

test('a sync is an activity of the library with the numbers of files', async ({ admin, service }) => {
  const fake = await startDriveFake('google-drive');
  try {
    fake.tree.put('a.txt', { text: 'hidden words' });
    const { authUri, tokenUri, apiUri } = fake.addresses;
    const integration = await createIntegration(admin, { authUri, tokenUri, apiUri });
    const library = await createLibrary(admin, { integrationId: integration.id });
    await connect(service, admin, library.id, integration.id);
    const tokens = { accessToken: fake.authority.issueToken(), refreshToken: null, expiresAt: null };
    await systemQuery(
      service,
      `update dws.connection set sealed_tokens = $2 where library_id = $1`,
      library.id,
      service.platform.secrets.seal(JSON.stringify(tokens)),
    );
    await expectStatus(admin.post(`${library.path}/_sync`, {}), 200);
    expect((await readActivities(admin, library.path))[0]).toMatchObject({
      type: 'library.synced',
      message: 'admin synced Papers',
      data: { addedFiles: 1, updatedFiles: 0, deletedFiles: 0 },
    });
  } finally {
    await fake.close();
  }
});

test('an uploaded icon and a removed one are activities of the assistant', async ({ admin }) => {
  const { id } = await admin.creates('/assistants', { name: 'Watched' });
  const path = `/assistants/${id}`;
  await admin.put(`${path}/icon`, pictureForm(await pngOf(RED)));
  await admin.delete(`${path}/icon`);
  // Nothing is left to remove.
  await admin.delete(`${path}/icon`);
  const change = {
    type: 'assistant.icon.changed',
    message: 'admin changed the icon of Watched',
    data: { fields: ['uploadedIconId'] },
  };
  expect(await readActivities(admin, path)).toMatchObject([change, change, { type: 'assistant.created' }]);
});

test('the stored types are exactly the declared types', async ({ service }) => {
  const stored = await service.platform.system.query<{ type: string }>({
    text: 'select distinct type from dws.activity',
  });
  expect(stored.map(({ type }) => type).toSorted()).toEqual([...ACTIVITY_TYPES.keys()].toSorted());
});
