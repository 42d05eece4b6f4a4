import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createFile, createFilled, createTemplate, edit, test } from './template-fixture.ts';

test('a draft has the owner, shares, tags, folder and favourites of its template', async ({ ann, bob, admin }) => {
  const template = await createTemplate(ann);
  const draft = await edit(ann, template);
  const tag = (await admin.creates('/tags', { name: 'Yearly' })).id;
  const folder = (await ann.creates('/folders', { name: 'Bills' })).id;
  await expectError(ann.put(`${draft.path}/shares/bob`, { accessLevel: 1 }), 409, /A draft has the shares/);
  await expectError(ann.delete(`${draft.path}/shares/bob`), 409, /shares/);
  await expectError(ann.put(`${draft.path}/owner`, { ownerId: bob.id }), 409, /owner/);
  await expectError(ann.put(draft.path, { ownerId: bob.id }), 409, /owner/);
  await expectError(ann.put(draft.path, { folderId: folder }), 409, /folder/);
  await expectError(ann.put(draft.path, { tags: [tag] }), 409, /tags/);
  await expectError(ann.put(`${draft.path}/tags/${tag}`), 409, /tags/);
  await expectError(ann.delete(`${draft.path}/tags/${tag}`), 409, /tags/);
  await expectError(ann.put(`${draft.path}/favorite`), 409, /favourites/);
  await expectError(ann.delete(`${draft.path}/favorite`), 409, /favourites/);
  await expectError(ann.post(`${draft.path}/_edit`), 409, 'A draft has no draft');
  await expectStatus(ann.post('/folders/_bulk-assign', { entities: [draft.id, template.id], folderId: folder }), 204);
  await expectBody(ann.get(draft.path), 200, { folderId: null });
  await expectBody(ann.get(template.path), 200, { folderId: folder });
  await expectStatus(ann.get(`${draft.path}/draft`), 404);
  await expectStatus(ann.delete(`${draft.path}/draft`), 404);
  await expectStatus(ann.post(`${draft.path}/draft/_commit`), 404);
  // Readers of the template read its draft, and a new owner owns it.
  await expectStatus(bob.get(draft.path), 404);
  await expectStatus(ann.put(`${template.path}/shares/bob`, { accessLevel: 1 }), 200);
  await expectBody(bob.get(draft.path), 200, { permissions: { read: true, write: false } });
  await expectStatus(ann.put(`${template.path}/owner`, { ownerId: bob.id }), 200);
  await expectBody(bob.get(draft.path), 200, { ownerId: bob.id, permissions: { write: true } });
  await expectStatus(ann.get(draft.path), 404);
});

test('a draft is in no list and in no search', async ({ ann }) => {
  const template = await createTemplate(ann, { name: 'Zanzibar' });
  const folder = (await ann.creates('/folders', { name: 'Islands' })).id;
  await expectStatus(ann.put(template.path, { folderId: folder }), 200);
  const draft = await edit(ann, template);
  const { body: list } = await ann.get('/templates?q=zanzibar');
  expect(list._embedded['svc:template'].map(({ id }: { id: string }) => id)).toEqual([template.id]);
  const { body: hits } = await ann.get('/search?q=zanzibar');
  expect(hits._embedded['svc:hit'].map(({ id }: { id: string }) => id)).toEqual([template.id]);
  const { folder: found } = await ann.data(`{ folder(id: "${folder}") { resources { items { id } } } }`);
  expect(found.resources.items).toEqual([{ id: template.id }]);
  expect(draft.id).not.toBe(template.id);
});

test('each route of drafts checks its callers', async ({ ann, bob, stranger, anonymous }) => {
  const template = await createTemplate(ann);
  const draft = await edit(ann, template);
  const routes = [
    ['POST', `${template.path}/_edit`],
    ['GET', `${template.path}/draft`],
    ['POST', `${template.path}/draft/_commit`],
    ['DELETE', `${template.path}/draft`],
  ] as const;
  for (const [method, path] of routes) {
    await expectStatus(anonymous.request(method, `/api${path}`), 401, path);
    for (const client of [stranger, bob])
      await expectError(client.request(method, `/api${path}`), 404, `There is no template ${template.id}`);
    await expectStatus(ann.request(method, `/api${path.replace(template.id, UNKNOWN_ID)}`), 404, path);
  }
  await expectStatus(ann.put(`${template.path}/shares/bob`, { accessLevel: 1 }), 200);
  await expectBody(bob.get(`${template.path}/draft`), 200, { id: draft.id });
  for (const [method, path] of routes.filter(([verb]) => verb !== 'GET'))
    await expectError(bob.request(method, `/api${path}`), 403, 'You lack the permission template:write');
  for (const method of ['PUT', 'DELETE'])
    await expectError(bob.request(method, `/api${draft.path}`, method === 'PUT' ? { name: 'x' } : undefined), 403);
  // Who may change the template may do everything with its draft.
  await expectStatus(ann.put(`${template.path}/shares/bob`, { accessLevel: 2 }), 200);
  await expectStatus(bob.put(draft.path, { name: 'By bob' }), 200);
  await createFile(bob, draft, 'bob.txt');
  await expectBody(bob.post(`${template.path}/draft/_commit`), 200, {
    id: template.id,
    name: 'By bob',
    ownerId: ann.id,
  });
  const next = await edit(bob, template);
  await expectStatus(bob.delete(next.path), 204);
  await expectStatus(bob.get(`${template.path}/draft`), 404);
  await expectError(bob.delete(template.path), 403, 'You lack the permission template:delete');
});

test('GraphQL does the same', async ({ ann }) => {
  const template = await createTemplate(ann);
  await createFilled(ann, template, 'a.njk', 'one', 'TEMPLATE');
  const id = { id: template.id };
  const { editTemplate: draft } = await ann.data(
    `mutation ($id: ID!) { editTemplate(id: $id) { id editingId stale editing { id } files { filename } } }`,
    id,
  );
  expect(draft).toMatchObject({ editingId: template.id, stale: false, editing: id, files: [{ filename: 'a.njk' }] });
  const query = `query ($id: ID!) { template(id: $id) { draft { id editing { name } } editing { id } editingId } }`;
  expect((await ann.data(query, id)).template).toEqual({
    draft: { id: draft.id, editing: { name: 'Invoice' } },
    editing: null,
    editingId: null,
  });
  await ann.data(`mutation ($id: ID!) { updateTemplate(id: $id, input: { name: "Bill" }) { id } }`, { id: draft.id });
  const commit = `mutation ($id: ID!) { commitTemplateDraft(id: $id) { id name draft { id } } }`;
  expect((await ann.data(commit, id)).commitTemplateDraft).toEqual({ id: template.id, name: 'Bill', draft: null });
  await expectGraphqlError(ann.gql(commit, id), 'NOT_FOUND', `There is no draft of template ${template.id}`);
  await ann.data(`mutation ($id: ID!) { editTemplate(id: $id) { id } }`, id);
  const remove = `mutation ($id: ID!) { deleteTemplateDraft(id: $id) }`;
  expect(await ann.data(remove, id)).toEqual({ deleteTemplateDraft: template.id });
  await expectGraphqlError(ann.gql(remove, id), 'NOT_FOUND');
});
