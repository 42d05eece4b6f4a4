import { expect } from 'vitest';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createTemplate, test } from './template-fixture.ts';

test('a new template is HTML of nunjucks, without files', async ({ ann }) => {
  const created = await ann.post('/templates', { name: 'Sales report' });
  expect(created).toMatchObject({
    status: 201,
    body: {
      tenant: 'default',
      slug: 'sales-report',
      naturalId: 'default:sales-report',
      name: 'Sales report',
      description: null,
      type: 'nunjucks',
      handler: 'html',
      handlerOptions: {},
      ownerId: ann.id,
      editingId: null,
      templateFileId: null,
      letterheadId: null,
      settings: {},
      permissions: { read: true, write: true, delete: true },
    },
  });
  expect(created.headers.get('location')).toBe(`/api/templates/${created.body.id}`);
  await expectBody(ann.get('/templates/default:sales-report'), 200, { id: created.body.id });
  const { template } = await ann.data(`{ template(id: "sales-report") { id type handler editingId } }`);
  expect(template).toEqual({ id: created.body.id, type: 'nunjucks', handler: 'html', editingId: null });
});

test('engine and handler change together, and only to a pair that exists', async ({ ann }) => {
  const { path } = await createTemplate(ann, { type: 'docx' });
  await expectBody(ann.get(path), 200, { type: 'docx', handler: 'docx' });
  await expectInvalid(ann.put(path, { type: 'nunjucks' }), 'handler', /must be one of html, pdf, text, csv/);
  await expectInvalid(ann.put(path, { handler: 'pdf' }), 'handler', /must be one of docx for the type docx/);
  await expectInvalid(ann.put(path, { type: 'toString' }), 'type', /must be one of nunjucks, docx/);
  await expectBody(ann.put(path, { type: 'nunjucks', handler: 'csv' }), 200, { type: 'nunjucks', handler: 'csv' });
  await expectInvalid(ann.post('/templates', { name: 'T', handler: 'docx' }), 'handler', /for the type nunjucks/);
});

test('a template of another user is unknown without a share, and unchanged with View', async ({
  ann,
  bob,
  anonymous,
  stranger,
}) => {
  const { id, path } = await createTemplate(ann);
  await expectStatus(anonymous.get(path), 401);
  await expectStatus(anonymous.post('/templates', { name: 'T' }), 401);
  for (const client of [bob, stranger]) await expectError(client.get(path), 404, `There is no template ${id}`);
  await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
  await expectBody(bob.get(path), 200, { permissions: { read: true, write: false } });
  await expectError(bob.put(path, { name: 'Mine' }), 403, 'You lack the permission template:write');
  await expectError(bob.delete(path), 403, 'You lack the permission template:delete');
  await expectError(ann.get(`/templates/${UNKNOWN_ID}`), 404, `There is no template ${UNKNOWN_ID}`);
});
