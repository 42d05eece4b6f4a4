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
    { path: ['parts/bad.njk'], message: expect.any(String), code: 'TEMPLATE', line: 2, column: expect.any(Number) },
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

test('_check warns of characters that PDFs cannot show, at their first places', async ({ ann }) => {
  const parts = {
    files: {
      'main.njk': 'Ähre 你好 😀 {# \u{1B170} #}\nfoo 🙂 \u{1B170}\u{1B170} <!-- \u{1B171} -->',
      'part.njk': '{{ "\u{16FE4}" }}',
    },
    data: { 'data.json': '{"name":\n"\u{1B171}"}' },
    inputs: [{ name: 'title', defaultValue: 'a \u{1B172}', schema: { type: 'string' } }],
  };
  const warning = (path: string, number: string, line: number | null, column: number | null) => ({
    path: [path],
    message: expect.stringContaining(`(U+${number})`),
    code: 'CHARACTER',
    line,
    column,
  });
  const { path, id } = await createRenderable(ann, parts, { handler: 'pdf' });
  const body = await expectBody(ann.post(`${path}/_check`), 200, {
    ok: true,
    problems: [
      warning('main.njk', '1B170', 2, 8),
      warning('part.njk', '16FE4', 1, 5),
      warning('data.json', '1B171', 2, 2),
      warning('inputs.title', '1B172', null, null),
    ],
  });
  expect((await ann.data(CHECK, { id })).checkTemplate).toEqual(body);
  const html = await createRenderable(ann, parts, { handler: 'html' });
  await expectBody(ann.post(`${html.path}/_check`), 200, { ok: true, problems: [] });
});
