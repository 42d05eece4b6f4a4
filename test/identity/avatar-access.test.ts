import { describe, expect } from 'vitest';
import { dataUrlOf, getPicture, pictureForm, uploadPart } from '../support/avatar-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { growingSvg, hostilePictures, pngOf, RED } from '../support/picture-files.ts';
import { systemQuery } from '../support/system-query.ts';
import { storedFiles } from '../support/upload-form.ts';

// Each picture is read in a process of its own.
const PNG = await pngOf(RED);
const SET = `mutation ($username: String!, $file: FileContent!) {
  setAvatar(username: $username, input: { file: $file }) { avatarUrl }
}`;
const PART = `mutation ($username: String!, $file: FileContent!) {
  uploadAvatarPart(username: $username, uploadId: "a", input: { file: $file, chunk: 0, chunks: 1 }) { complete }
}`;
const DELETE = 'mutation ($username: String!) { deleteAvatar(username: $username) { avatarUrl } }';

/** All calls that change the avatar of a user, with the status of success. */
const CHANGES = {
  put: (client: Client, username: string) => client.put(`/users/${username}/avatar`, pictureForm(PNG)),
  upload: (client: Client, username: string) => uploadPart(client, username, 'a', PNG, { chunk: '0', chunks: '1' }),
  delete: (client: Client, username: string) => client.delete(`/users/${username}/avatar`),
};
const MUTATIONS = [SET, PART, DELETE];

/** Expects that a caller may not change the avatar of a user, by any call of both APIs. */
async function expectRefused(client: Client, username: string, status: number, code: string, message: string) {
  for (const change of Object.values(CHANGES)) await expectError(change(client, username), status, message);
  for (const mutation of MUTATIONS)
    await expectGraphqlError(client.gql(mutation, { username, file: dataUrlOf(PNG) }), code, message);
}

async function expectAllowed(client: Client, username: string) {
  const statuses = [];
  for (const change of Object.values(CHANGES)) statuses.push((await change(client, username)).status);
  expect(statuses).toEqual([200, 200, 204]);
  for (const mutation of MUTATIONS) await client.data(mutation, { username, file: dataUrlOf(PNG) });
}

describe('the avatar of a user', () => {
  test('is changed by themselves and by admins', async ({ service, ann, admin }) => {
    const editor = await service.user('editor', { permissions: ['users:edit'] });
    await expectAllowed(ann, 'ann');
    await expectAllowed(ann, ann.id);
    await expectAllowed(editor, 'Ann');
    await expectAllowed(admin, 'ann');
  });

  test('is not changed by others', async ({ ann, bob, anonymous }) => {
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    const before = (await ann.get('/me')).body.avatarUrl;
    await expectRefused(bob, 'ann', 403, 'FORBIDDEN', 'You lack the permission user:edit');
    await expectRefused(anonymous, 'ann', 401, 'UNAUTHENTICATED', 'Missing authentication');
    // The picture is not looked at before the access is known.
    await expectError(bob.put('/users/ann/avatar', pictureForm('no picture')), 403);
    expect((await ann.get('/me')).body.avatarUrl).toBe(before);
  });

  test('of a superuser is changed by superusers only', async ({ service, admin }) => {
    const editor = await service.user('editor2', { permissions: ['users:edit'] });
    const chief = await service.user('chief', { superuser: true });
    await expectRefused(editor, 'chief', 403, 'FORBIDDEN', 'Only superusers can change a superuser');
    await expectAllowed(admin, 'chief');
    await expectAllowed(chief, 'chief');
  });

  test('is not changed by a token that only reads, nor from another site', async ({ service, ann }) => {
    const readOnly = await service.user('readonly', { scopes: ['read'] });
    await expectRefused(readOnly, 'readonly', 403, 'FORBIDDEN', 'This token lacks the scope write');
    const session = await service.login('ann');
    expect((await CHANGES.put(session.with({ 'sec-fetch-site': 'cross-site' }), 'ann')).status).toBe(403);
    expect((await CHANGES.put(session, 'ann')).status).toBe(200);
    expect((await CHANGES.delete(ann, 'ann')).status).toBe(204);
  });

  test('is 404 for an unknown user, before anything is checked', async ({ admin, bob }) => {
    await expectRefused(admin, 'unknown', 404, 'NOT_FOUND', 'There is no user unknown');
    await expectRefused(bob, 'unknown', 404, 'NOT_FOUND', 'There is no user unknown');
  });

  test('leaves a denied attempt and a change in the audit log', async ({ service, ann, bob }) => {
    await CHANGES.put(bob, 'ann');
    await CHANGES.put(ann, 'ann');
    const events = await systemQuery(
      service,
      `select username, outcome, kind, resource_id as id
      from dws.audit_event where action = 'setAvatar' order by created_at desc, id desc limit 2`,
    );
    expect(events).toEqual([
      { username: 'ann', outcome: 'succeeded', kind: 'user', id: ann.id },
      { username: 'bob', outcome: 'denied', kind: 'user', id: ann.id },
    ]);
  });
});

describe('a refused picture changes nothing', () => {
  test('whatever is wrong with it, by all calls', async ({ service, ann }) => {
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    const { avatarUrl, updatedAt } = (await ann.get('/me')).body;
    const { bytes } = await getPicture(ann, '/users/ann/avatar');
    const files = () => systemQuery(service, 'select id from dws.stored_file order by id');
    const before = await files();

    for (const [picture, message] of await hostilePictures()) {
      await expectError(ann.put('/users/ann/avatar', pictureForm(picture)), 400, message);
      await expectError(uploadPart(ann, 'ann', 'bad', picture, { chunk: '0', chunks: '1' }), 400, message);
      const file = dataUrlOf(Buffer.from(picture));
      await expectGraphqlError(ann.gql(SET, { username: 'ann', file }), 'BAD_USER_INPUT', message);
    }
    expect((await ann.get('/me')).body).toMatchObject({ avatarUrl, updatedAt });
    expect((await getPicture(ann, '/users/ann/avatar')).bytes).toEqual(bytes);
    expect(await files()).toEqual(before);
  });

  test('because it is larger than 5 MB', async ({ service, ann }) => {
    await CHANGES.delete(ann, 'ann');
    const message = 'The file is larger than the maximum of 5000000 bytes';
    const large = Buffer.concat([PNG, Buffer.alloc(5_000_001 - PNG.length)]);
    await expectError(ann.put('/users/ann/avatar', pictureForm(large)), 413, message);
    await expectError(ann.put('/users/ann/avatar', pictureForm(Buffer.alloc(20_000_000))), 413, message);
    await expectError(uploadPart(ann, 'ann', 'large', large, { chunk: '0', chunks: '2' }), 413, message);
    await expectGraphqlError(ann.gql(SET, { username: 'ann', file: dataUrlOf(large) }), 'PAYLOAD_TOO_LARGE', message);
    expect(await systemQuery(service, 'select id from dws.stored_file f where f.filename like $1', 'me%')).toEqual([]);
    // Zeros after its end do not harm.
    await expectStatus(ann.put('/users/ann/avatar', pictureForm(large.subarray(0, 5_000_000))), 200);
  });

  test('because it is an SVG that becomes larger than 5 MB when its allowed parts are written', async ({
    service,
    ann,
  }) => {
    await CHANGES.delete(ann, 'ann');
    const before = storedFiles(service);
    const svg = Buffer.from(growingSvg());
    const message = /^The allowed parts of the SVG have 6000\d{3} bytes, more than 5000000$/;
    await expectError(ann.put('/users/ann/avatar', pictureForm(svg)), 413, message);
    await expectError(uploadPart(ann, 'ann', 'growing', svg, { chunk: '0', chunks: '1' }), 413, message);
    await expectGraphqlError(ann.gql(SET, { username: 'ann', file: dataUrlOf(svg) }), 'PAYLOAD_TOO_LARGE', message);
    expect(storedFiles(service)).toEqual(before);
    expect((await ann.get('/me')).body.avatarUrl).not.toContain('?');
  });

  test('because its form is malformed', async ({ ann }) => {
    await CHANGES.delete(ann, 'ann');
    const put = (body: unknown) => ann.put('/users/ann/avatar', body);
    await expectError(put({ file: dataUrlOf(PNG) }), 415);
    const withoutFile = new FormData();
    withoutFile.append('file', 'text');
    await expectError(put(withoutFile), 400, '"file" must be a file');
    await expectError(put(new FormData()), 400);
    await expectError(put(pictureForm(PNG, { before: { surprise: '1' } })), 400, /surprise/);
    await expectError(put(pictureForm(PNG, { after: { surprise: '1' } })), 400, /surprise/);
    expect((await ann.get('/me')).body.avatarUrl).not.toContain('?');
  });
});
