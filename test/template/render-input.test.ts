import { describe, expect } from 'vitest';
import { expectError, expectInvalid } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { addFile, createRenderable, render, renderByGraphql, test } from './render-fixture.ts';

const INPUTS = [
  { name: 'country', required: true, schema: { enum: ['DE', 'FR'] } },
  { name: 'since', schema: { type: 'string', format: 'date' }, defaultValue: '2026-01-01' },
  { name: 'note', schema: { type: 'string' } },
];
const FILE = { 'r.njk': '{{ inputs.country }} {{ inputs.since }} {{ inputs.note === null }}' };

describe('params', () => {
  test('are checked by the schemas of the inputs, all together', async ({ ann }) => {
    const { path, id } = await createRenderable(ann, { files: FILE, inputs: INPUTS }, { handler: 'text' });
    expect((await render(ann, path, { params: { country: 'DE' } })).text).toBe('DE 2026-01-01 true');
    const params = { country: 'XX', since: 'yesterday', other: 1 };
    const refused = await render(ann, path, { params });
    expect(refused.status).toBe(400);
    const paths = refused.error.validation!.map((issue) => (issue['path'] as string[]).join('.')).toSorted();
    expect(paths).toEqual(['params.country', 'params.other', 'params.since']);
    const { errors } = await renderByGraphql(ann, id, { params });
    expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(errors[0].extensions.validation).toHaveLength(3);
    await expectInvalid(ann.post(`${path}/_render`, {}), 'params.country', 'params.country is required');
  });

  test('that are refused start no operation', async ({ ann }) => {
    const { path, id } = await createRenderable(ann, { files: FILE, inputs: INPUTS });
    await expectInvalid(
      ann.post(`${path}/_render`, { params: {} }, { prefer: 'respond-async' }),
      'params.country',
      'params.country is required',
    );
    expect((await ann.get(`/progress?resource=${id}`)).body.total).toBe(0);
  });
});

describe('_render refuses', () => {
  test('a template without a file with 409', async ({ ann }) => {
    const { path } = await createRenderable(ann, {});
    await expectError(ann.post(`${path}/_render`), 409, 'The template has no file to render');
  });

  test('files that are not its TEMPLATE files', async ({ ann }) => {
    const { path } = await createRenderable(ann, { files: FILE });
    const other = await createRenderable(ann, { files: FILE });
    const [file] = (await ann.get(`${other.path}/files`)).body._embedded['svc:template-file'];
    await expectError(
      ann.post(`${path}/_render`, { templateFileId: file.id }),
      404,
      `There is no template file ${file.id}`,
    );
    await expectError(ann.post(`${path}/_render`, { templateFileId: UNKNOWN_ID }), 404);
    const asset = await addFile(ann, path, 'ASSET', 'logo.svg', '<svg/>');
    await expectInvalid(ann.post(`${path}/_render`, { templateFileId: asset }), 'templateFileId', /role TEMPLATE/);
  });

  test('a handler of another engine, unknown options and unknown keys', async ({ ann }) => {
    const { path } = await createRenderable(ann, { files: FILE });
    await expectInvalid(
      ann.post(`${path}/_render`, { handler: 'docx' }),
      'handler',
      /must be one of html, pdf, text, csv/,
    );
    await expectInvalid(
      ann.post(`${path}/_render`, { handlerOptions: { colour: 'red' } }),
      'handlerOptions.colour',
      'handlerOptions.colour is unknown',
    );
    await expectInvalid(ann.post(`${path}/_render`, { format: 'pdf' }), 'format', /Unknown key/);
    await expectInvalid(ann.post(`${path}/_render`, { progress: '' }), 'progress', /.*/);
    await expectError(ann.post(`${path}/_render`, '{', { 'content-type': 'application/json' }), 400);
  });

  test('callers who may not read the template', async ({ ann, bob, anonymous, stranger, service }) => {
    const { path } = await createRenderable(ann, { files: { 'r.njk': 'x' } });
    for (const route of ['_render', '_check']) {
      await expectError(anonymous.post(`${path}/${route}`), 401);
      await expectError(bob.post(`${path}/${route}`), 404);
      await expectError(stranger.post(`${path}/${route}`), 404);
      await expectError(ann.post(`/templates/${UNKNOWN_ID}/${route}`), 404, `There is no template ${UNKNOWN_ID}`);
    }
    const reader = await service.user('read-only', { scopes: ['read'] });
    await expectError(reader.post(`${path}/_render`), 403, 'This token lacks the scope write');
    await ann.put(`${path}/shares/${bob.id}`, { accessLevel: 1 });
    expect((await render(bob, path)).text).toBe('x');
  });
});

describe('a mistake in a template', () => {
  const BROKEN = { 'broken.njk': '<p>\n  {{ 1 + }}\n</p>' };
  const MISTAKE = {
    path: ['broken.njk'],
    code: 'TEMPLATE',
    message: expect.any(String),
    line: 2,
    column: expect.any(Number),
  };

  test('has its place in REST, GraphQL and the record of the operation', async ({ ann }) => {
    const { path, id } = await createRenderable(ann, { files: BROKEN });
    const { status, error } = await render(ann, path);
    expect({ status, code: error.code }).toEqual({ status: 400, code: 'BAD_USER_INPUT' });
    expect(error.message).toMatch(/^broken\.njk, line 2: /);
    expect(error.validation).toEqual([MISTAKE]);

    const { errors } = await renderByGraphql(ann, id);
    expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400, validation: [MISTAKE] });

    const started = await ann.post(`${path}/_render`, {}, { prefer: 'respond-async' });
    expect(started).toMatchObject({
      status: 202,
      body: { operation: 'template.render', resource: { kind: 'template', id } },
    });
    const record = `/progress/${started.body.id}`;
    expect(started.headers.get('location')).toBe(`/api${record}`);
    await expect.poll(async () => (await ann.get(record)).body.status).toBe('failed');
    expect((await ann.get(record)).body.error).toMatchObject({ statusCode: 400, validation: [MISTAKE] });
    const QUERY = `query ($id: ID!) { operation(id: $id) { error { code validation { path code line column message } } } }`;
    const { operation } = await ann.data(QUERY, { id: started.body.id });
    expect(operation.error).toEqual({ code: 'BAD_USER_INPUT', validation: [MISTAKE] });
  });
});
