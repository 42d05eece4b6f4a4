import { describe, expect } from 'vitest';
import { dataUrlOf, getPicture, pictureForm } from '../support/avatar-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { growingSvg, hostilePictures, pngOf, RED } from '../support/picture-files.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { storedFiles } from '../support/upload-form.ts';

// Each picture is read in a process of its own.
const PNG = await pngOf(RED);
const SET = `mutation ($id: ID!, $file: FileContent!) {
  setAssistantIcon(id: $id, input: { file: $file }) { iconUrl }
}`;
const DELETE = 'mutation ($id: ID!) { deleteAssistantIcon(id: $id) { iconUrl } }';
const READS = ['assistantIcon', 'assistantFavicon'].map((field) => `query ($id: ID!) { ${field}(id: $id) { sha256 } }`);

const put = (client: Client, id: string, picture: Uint8Array | string = PNG) =>
  client.put(`/assistants/${id}/icon`, pictureForm(picture));

/** Expects that a caller may not change the icon of an assistant, in both APIs, whatever they upload. */
async function expectUnchangeable(client: Client, id: string, status: number, code: string, message: string) {
  await expectError(put(client, id), status, message);
  await expectError(put(client, id, 'no picture'), status, message);
  await expectError(client.delete(`/assistants/${id}/icon`), status, message);
  for (const mutation of [SET, DELETE])
    await expectGraphqlError(client.gql(mutation, { id, file: dataUrlOf(PNG) }), code, message);
}

/** Expects that a caller may not read the icon of an assistant, in both APIs. */
async function expectUnreadable(client: Client, id: string, status: number, code: string, message: string) {
  for (const path of ['icon', 'favicon.ico'])
    await expectError(client.get(`/assistants/${id}/${path}`), status, message);
  for (const query of READS) await expectGraphqlError(client.gql(query, { id }), code, message);
}

async function expectReadable(client: Client, id: string) {
  for (const path of ['icon', 'favicon.ico'])
    expect((await getPicture(client, `/assistants/${id}/${path}`)).status).toBe(200);
  for (const query of READS) await client.data(query, { id });
}

describe('the icon of an assistant', () => {
  test('is changed by those who may write the assistant, and read by its readers', async ({ ann, bob }) => {
    const { id, slug } = await ann.creates('/assistants', { name: 'Shared' });
    await expectStatus(put(ann, slug), 200);
    const none = `There is no assistant ${id}`;
    await expectUnreadable(bob, id, 404, 'NOT_FOUND', none);
    await expectUnchangeable(bob, id, 404, 'NOT_FOUND', none);

    await ann.put(`/assistants/${id}/shares/bob`, { accessLevel: 1 });
    await expectReadable(bob, id);
    await expectUnchangeable(bob, id, 403, 'FORBIDDEN', 'You lack the permission assistant:write');

    await ann.put(`/assistants/${id}/shares/bob`, { accessLevel: 2 });
    await expectStatus(put(bob, id), 200);
    await expectStatus(bob.delete(`/assistants/${id}/icon`), 204);
    await bob.data(SET, { id, file: dataUrlOf(PNG) });
    await bob.data(DELETE, { id });
  });

  test('requires credentials, the tenant of the assistant, and one that exists', async ({
    ann,
    stranger,
    anonymous,
  }) => {
    const { id } = await ann.creates('/assistants', { name: 'Closed' });
    await expectUnreadable(anonymous, id, 401, 'UNAUTHENTICATED', 'Missing authentication');
    await expectUnchangeable(anonymous, id, 401, 'UNAUTHENTICATED', 'Missing authentication');
    for (const [client, unknown] of [
      [stranger, id],
      [ann, UNKNOWN_ID],
      [ann, 'unknown'],
    ] as const) {
      await expectUnreadable(client, unknown, 404, 'NOT_FOUND', `There is no assistant ${unknown}`);
      await expectUnchangeable(client, unknown, 404, 'NOT_FOUND', `There is no assistant ${unknown}`);
    }
  });

  test('is not changed by a token that only reads, nor from another site', async ({ service, ann }) => {
    const { id } = await ann.creates('/assistants', { name: 'Session' });
    const readOnly = await service.user('readonly', { scopes: ['read'] });
    await ann.put(`/assistants/${id}/shares/readonly`, { accessLevel: 3 });
    await expectReadable(readOnly, id);
    await expectUnchangeable(readOnly, id, 403, 'FORBIDDEN', 'This token lacks the scope write');
    const session = await service.login('ann');
    expect((await put(session.with({ 'sec-fetch-site': 'cross-site' }), id)).status).toBe(403);
    expect((await put(session, id)).status).toBe(200);
  });

  test('leaves a denied attempt and a change in the audit log', async ({ service, ann, bob }) => {
    const { id } = await ann.creates('/assistants', { name: 'Audited' });
    await ann.put(`/assistants/${id}/shares/bob`, { accessLevel: 1 });
    await put(bob, id);
    await put(ann, id);
    const events = await systemQuery(
      service,
      `select username, outcome, kind, resource_id as id
      from dws.audit_event where action = 'setAssistantIcon' order by created_at desc, id desc limit 2`,
    );
    expect(events).toEqual([
      { username: 'ann', outcome: 'succeeded', kind: 'assistant', id },
      { username: 'bob', outcome: 'denied', kind: 'assistant', id },
    ]);
  });
});

describe('a refused icon changes nothing', () => {
  test('whatever is wrong with it, in both APIs', async ({ service, ann }) => {
    const { id } = await ann.creates('/assistants', { name: 'Attacked' });
    await expectStatus(put(ann, id), 200);
    const { iconUrl, updatedAt } = (await ann.get(`/assistants/${id}`)).body;
    const { bytes } = await getPicture(ann, `/assistants/${id}/icon`);
    const before = storedFiles(service);
    for (const [picture, message] of await hostilePictures()) {
      await expectError(put(ann, id, picture), 400, message);
      const file = dataUrlOf(Buffer.from(picture));
      await expectGraphqlError(ann.gql(SET, { id, file }), 'BAD_USER_INPUT', message);
    }
    expect((await ann.get(`/assistants/${id}`)).body).toMatchObject({ iconUrl, updatedAt });
    expect((await getPicture(ann, `/assistants/${id}/icon`)).bytes).toEqual(bytes);
    expect(storedFiles(service)).toEqual(before);
  });

  test('because it is larger than 5 MB, or becomes larger', async ({ service, ann }) => {
    const { id } = await ann.creates('/assistants', { name: 'Large' });
    const before = storedFiles(service);
    const large = Buffer.concat([PNG, Buffer.alloc(5_000_001 - PNG.length)]);
    const message = 'The file is larger than the maximum of 5000000 bytes';
    await expectError(put(ann, id, large), 413, message);
    await expectGraphqlError(ann.gql(SET, { id, file: dataUrlOf(large) }), 'PAYLOAD_TOO_LARGE', message);
    await expectError(put(ann, id, growingSvg()), 413, /^The allowed parts of the SVG have 6000\d{3} bytes/);
    expect(storedFiles(service)).toEqual(before);
    // Zeros after its end do not harm, and are not kept.
    await expectStatus(put(ann, id, large.subarray(0, 5_000_000)), 200);
    expect((await getPicture(ann, `/assistants/${id}/icon`)).bytes.length).toBeLessThan(1000);
  });

  test('because its form is malformed', async ({ service, ann }) => {
    const { id, iconUrl } = await ann.creates('/assistants', { name: 'Malformed' });
    const before = storedFiles(service);
    const send = (body: unknown) => ann.put(`/assistants/${id}/icon`, body);
    await expectError(send({ file: dataUrlOf(PNG) }), 415);
    const withoutFile = new FormData();
    withoutFile.append('file', 'text');
    await expectError(send(withoutFile), 400, '"file" must be a file');
    await expectError(send(new FormData()), 400);
    await expectError(send(pictureForm(PNG, { before: { surprise: '1' } })), 400, /surprise/);
    await expectError(send(pictureForm(PNG, { after: { surprise: '1' } })), 400, /surprise/);
    expect((await ann.get(`/assistants/${id}`)).body.iconUrl).toBe(iconUrl);
    expect(storedFiles(service)).toEqual(before);
  });
});
