import { expect } from 'vitest';
import { expectBody } from '../support/expect.ts';
import { createRenderable, test } from './render-fixture.ts';

const CHECK = `query ($id: ID!) { checkTemplate(templateId: $id) { ok problems { path message code line column } } }`;

test('_check finds the mistakes of all files, in both APIs', async ({ ann }) => {
  const { path, id } = await createRenderable(ann, {
    files: { 'main.njk': 'fine', 'parts/bad.njk': 'line 1\n{% if %}' },
    settings: { strict: true },
  });
  const problems = [
    { path: 'parts/bad.njk', message: expect.any(String), code: 'TEMPLATE', line: 2, column: expect.any(Number) },
  ];
  const body = await expectBody(ann.post(`${path}/_check`), 200, { ok: false, problems });
  expect((await ann.data(CHECK, { id })).checkTemplate).toEqual(body);
});

test('_check of a template without mistakes is ok', async ({ ann }) => {
  const { path } = await createRenderable(ann, { files: { 'main.njk': '{{ orders.rows | length }}' } });
  expect((await ann.post(`${path}/_check`)).body).toEqual({ ok: true, problems: [] });
  const empty = await createRenderable(ann, {});
  expect((await ann.post(`${empty.path}/_check`, {})).body).toEqual({ ok: true, problems: [] });
});
