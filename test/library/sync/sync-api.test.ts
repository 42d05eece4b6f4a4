import { describe, expect } from 'vitest';
import { startDriveFake } from '../../../tools/drive-fake.ts';
import type { DriveFake } from '../../../tools/drive-fake/fake-server.ts';
import { createAction, preview, run } from '../../job/driver-fixture.ts';
import { readActivities } from '../../support/activity.ts';
import type { Client } from '../../support/client.ts';
import { expectError, expectStatus } from '../../support/expect.ts';
import { test as base } from '../../support/fixture.ts';
import { startService, type Service } from '../../support/service.ts';
import { systemQuery } from '../../support/system-query.ts';
import { createTeam } from '../../support/team-fixture.ts';
import { connect, createIntegration, createLibrary, type TestResource } from '../library-fixture.ts';

const SYNC = `mutation ($id: ID!, $dryRun: Boolean) {
  syncLibrary(id: $id, dryRun: $dryRun) {
    operation { operation status unit resource { kind id } }
    result { syncedFiles addedFiles full dryRun errorCount errors { path } changes { action path size } }
  }
}`;

interface DriveWorld {
  fake: DriveFake;
  /** Creates a library of a user that is connected with the fake. */
  connected(owner: Client, more?: object): Promise<TestResource>;
}

const test = base.extend<DriveWorld & { service: Service }>({
  service: [
    async ({}, use) => {
      const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  fake: async ({}, use) => {
    const fake = await startDriveFake('google-drive');
    await use(fake);
    await fake.close();
  },
  connected: async ({ service, admin, fake }, use) =>
    use(async (owner, more = {}) => {
      const { authUri, tokenUri, apiUri } = fake.addresses;
      const integration = await createIntegration(admin, { authUri, tokenUri, apiUri });
      const library = await createLibrary(owner, { integrationId: integration.id, ...more });
      await connect(service, owner, library.id, integration.id);
      const tokens = { accessToken: fake.authority.issueToken(), refreshToken: null, expiresAt: null };
      await systemQuery(
        service,
        `update dws.connection set sealed_tokens = $2 where library_id = $1`,
        library.id,
        service.platform.secrets.seal(JSON.stringify(tokens)),
      );
      return library;
    }),
});

describe('POST /libraries/{id}/_sync', () => {
  test('returns the result, which the library, its files and its activity show', async ({ ann, fake, connected }) => {
    fake.tree.put('a/b.txt', { text: 'hello' });
    fake.tree.put('survey', { special: 'form' });
    const { path, id } = await connected(ann);
    const { status, body } = await ann.post(`${path}/_sync`, { progress: 'mine' });
    expect(status).toBe(200);
    const result = {
      syncedFiles: 1,
      addedFiles: 1,
      updatedFiles: 0,
      deletedFiles: 0,
      skippedFiles: 1,
      errors: [],
      errorCount: 0,
      full: true,
      dryRun: false,
    };
    expect(body).toEqual({ ...result, changes: null });
    const library = (await ann.get(path)).body;
    expect(library).toMatchObject({
      fileCount: 2,
      bytes: 5,
      lastSync: { ...result, success: true, error: null },
      lastSyncAt: expect.any(String),
    });
    const files = (await ann.get(`${path}/files`)).body._embedded['svc:library-file'];
    expect(files).toMatchObject([
      { path: 'a/b.txt', status: 'synced', size: 5 },
      { path: 'survey', status: 'skipped', size: null },
    ]);
    expect((await ann.get(`${path}/files/${files[0].id}/contents`)).body).toBe('hello');
    expect((await readActivities(ann, path))[0]).toMatchObject({
      type: 'library.synced',
      message: 'ann synced Papers',
      data: { addedFiles: 1, updatedFiles: 0, deletedFiles: 0 },
    });
    expect((await ann.get('/progress/mine')).body).toMatchObject({
      operation: 'library.sync',
      resource: { kind: 'library', id },
      unit: 'files',
      current: 2,
      total: 2,
      percent: 100,
    });
  });

  test('is the mutation syncLibrary', async ({ ann, fake, connected }) => {
    fake.tree.put('a.txt', { text: 'A' });
    const { id } = await connected(ann);
    expect((await ann.data(SYNC, { id, dryRun: true })).syncLibrary.result).toEqual({
      syncedFiles: 1,
      addedFiles: 1,
      full: true,
      dryRun: true,
      errorCount: 0,
      errors: [],
      changes: [{ action: 'ADD', path: 'a.txt', size: 1 }],
    });
    expect((await ann.data(SYNC, { id })).syncLibrary).toEqual({
      operation: { operation: 'LIBRARY_SYNC', status: 'SUCCEEDED', unit: 'files', resource: { kind: 'LIBRARY', id } },
      result: { syncedFiles: 1, addedFiles: 1, full: true, dryRun: false, errorCount: 0, errors: [], changes: null },
    });
  });

  test('is 409 before it starts without an integration or connection, 403 and 404 without the right', async ({
    service,
    ann,
    bob,
    connected,
  }) => {
    const bare = await createLibrary(ann);
    await expectError(ann.post(`${bare.path}/_sync`, {}), 409, 'The library has no integration');
    const library = await connected(ann);
    await expectError(bob.post(`${library.path}/_sync`, {}), 404);
    await ann.put(`${library.path}/shares/${bob.id}`, { accessLevel: 1 });
    await expectError(bob.post(`${library.path}/_sync`, {}), 403, 'You lack the permission library:sync');
    await systemQuery(service, `update dws.connection set status = 'expired' where library_id = $1`, library.id);
    await expectError(ann.post(`${library.path}/_sync`, {}), 409, 'The connection of the library has expired');
    await systemQuery(service, `delete from dws.connection where library_id = $1`, library.id);
    await expectError(ann.post(`${library.path}/_sync`, {}), 409, 'The library is not connected');
    const started = await systemQuery(service, `select from dws.operation where resource_id = $1`, library.id);
    expect(started).toEqual([]);
  });

  test('is in the feed of the team that owns the library', async ({ admin, fake, connected }) => {
    fake.tree.put('a.txt', { text: 'A' });
    const team = await createTeam(admin, 'Readers');
    const { path } = await connected(admin);
    await expectStatus(admin.put(`${path}/owner`, { ownerId: `team:${team}` }), 200);
    await expectStatus(admin.post(`${path}/_sync`, {}), 200);
    const [latest] = (await admin.get(`/teams/${team}/feed`)).body._embedded['svc:feed-item'];
    expect(latest).toMatchObject({ type: 'librarySynced', message: 'admin synced Papers' });
  });
});

describe('a library that is deleted', () => {
  test('ends its running sync and takes its files and what syncs know with it', async ({
    service,
    ann,
    fake,
    connected,
  }) => {
    const reached = Promise.withResolvers<void>();
    for (let n = 0; n < 20; n += 1) fake.tree.put(`${n}`, { size: 50_000_000 });
    fake.onCall = (kind) => {
      if (kind === 'contents') reached.resolve();
    };
    const { path, id } = await connected(ann);
    const syncing = ann.post(`${path}/_sync`, {});
    await reached.promise;
    await expectStatus(ann.delete(path), 204);
    await expectError(syncing, 409, 'The operation was cancelled');
    for (const table of ['library_file', 'library_sync'])
      expect(await systemQuery(service, `select from dws.${table} where library_id = $1`, id)).toEqual([]);
    expect(await systemQuery(service, `select from dws.stored_file`)).toEqual(
      await systemQuery(service, `select from dws.library_file where stored_file_id is not null`),
    );
  });
});

describe('the action sync-library', () => {
  test('syncs with the rights of the owner of the job, and keeps the library', async ({
    ann,
    bob,
    fake,
    connected,
  }) => {
    fake.tree.put('a.txt', { text: 'A' });
    const library = await connected(ann);
    const { slug } = (await ann.get(library.path)).body;
    const action = await createAction(ann, 'sync-library', { libraryId: slug });
    expect(action.data).toEqual({ libraryId: library.id });
    expect(await preview(ann, action)).toEqual({ library: 'Papers', files: 0, lastSyncAt: null, purge: false });
    expect(await run(ann, action, 'REST')).toEqual({
      success: true,
      error: null,
      attempts: 1,
      log: ['Synced: 1 added, 0 updated, 0 deleted, 0 failed'],
    });
    fake.tree.delete('a.txt');
    expect(await run(ann, action)).toMatchObject({ log: ['Synced: 0 added, 0 updated, 1 deleted, 0 failed'] });
    await expectError(ann.delete(library.path), 409, 'The library is in use by job "Nightly"');
    const references = (await ann.get(`${library.path}/references`)).body._embedded['svc:reference'];
    expect(references).toMatchObject([{ kind: 'job', id: action.job.id }]);
    const create = (libraryId: string) =>
      bob.post(`${action.job.path}/actions`, { type: 'sync-library', name: 'Sync', data: { libraryId } });
    await expectError(create(library.id), 404);
    await ann.delete(`${library.path}/connection`);
    expect(await run(ann, action)).toMatchObject({ success: false, error: 'The library is not connected' });
  });

  test('requires library:sync of who names the library', async ({ ann, bob, connected }) => {
    const library = await connected(ann);
    await ann.put(`${library.path}/shares/${bob.id}`, { accessLevel: 1 });
    const job = await bob.creates('/jobs', { name: 'Nightly', type: 'actions' });
    const data = { libraryId: library.id };
    await expectError(
      bob.post(`/jobs/${job.id}/actions`, { type: 'sync-library', name: 'Sync', data }),
      403,
      'You lack the permission library:sync',
    );
  });
});
