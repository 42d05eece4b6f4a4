import { afterAll, describe, expect } from 'vitest';
import { findFrameResource } from '../../src/core/frame-resources.ts';
import { HAS_PRINTER } from '../support/engines.ts';
import { documentOf, openPrinter } from '../support/pdf-printing.ts';
import { systemQuery } from '../support/system-query.ts';
import { createRenderable, render, test } from './render-fixture.ts';

const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

const REFUSED: readonly (readonly [what: string, html: string])[] = [
  ['@import', '<style>@import "http://a.example/x.css";</style>'],
  ['@import', '<style>b{}\n@IMPORT  url( http://a.example/x.css ) print;</style>'],
  ['@import', '<style>@\\69mport "a.css"'],
  ['@import', '<style>@/**/import/**/ "data.css"; @import "a.css"</style>'],
  ['url()', '<style>@font-face{font-family:f;src:url(https://a.example/f.woff2)}</style>'],
  ['url()', '<p style="background: url(\'//a.example/x.png\')">x</p>'],
  ['url()', '<p style=background:u\\72l(x.png)>x</p>'],
  ['url()', '<p style="background:&#x75;rl(x.png)">x</p>'],
  ['<link rel="stylesheet">', '<LINK href=style.css rel=stylesheet>'],
  ['<link rel="stylesheet">', `<link rel='alternate stylesheet' href="http://a.example/">`],
];

const ALLOWED: readonly string[] = [
  `<style>p{background:url(${PIXEL})} @import url("data:text/css,p{}"); @import 'data:text/css,p{}';</style>`,
  `<p style="background:url('${PIXEL}');clip-path:url(#a)">@import "x.css" and url(x.png) are text</p>`,
  '<style>p{background:url({{ logo }})} {% include "style.css" %} @import {{ styles }};</style>',
  `<link rel="stylesheet" href="data:text/css,p{}"><link rel="icon" href="x.png"><img src="${PIXEL}">`,
  '<span class="pageNumber"></span> of <span class="totalPages"></span>',
  '<style>p{color:red}/* url(x.png) */</style>',
];

test.for(REFUSED)('%s is found in %s', ([what, html]) => {
  expect(findFrameResource(`<b>\n${html}`)?.what).toBe(what);
});

test.for(ALLOWED.map((html) => [html] as const))('%s loads nothing', ([html]) => {
  expect(findFrameResource(html)).toBeNull();
});

test('the time of a search grows with the length of the text', () => {
  const blanks = ' '.repeat(1_000_000);
  for (const html of [`<style>p{b:url(${blanks})}`, `<style>@import${blanks}(`, '<style '.repeat(100_000)])
    expect(findFrameResource(html)).toBeNull();
  expect(findFrameResource(`<style>p{b:url(${blanks}x.png)}`)?.what).toBe('url()');
});

const HTML = 'Top\n <style>@import "a.css";</style>';
const MESSAGE = 'Header and footer can load nothing but data URLs: @import';

describe.for(['header', 'footer'])('a %s with an import', (name) => {
  const settings = { [name]: HTML };

  test('is refused when it is saved, in both APIs', async ({ ann }) => {
    const { path, id } = await createRenderable(ann, { settings: { locale: 'de' } });
    const issue = { path: [`settings.${name}`], message: MESSAGE, code: 'TEMPLATE', line: 2, column: 2 };
    const refused = { status: 400, body: { message: `settings.${name}, line 2: ${MESSAGE}`, validation: [issue] } };
    expect(await ann.put(`${path}/settings`, settings)).toMatchObject(refused);
    expect(await ann.put(path, { settings })).toMatchObject(refused);
    expect(await ann.post('/templates', { name: 'T', settings })).toMatchObject(refused);
    const set = `mutation ($id: ID!, $settings: JSONObject!) { setTemplateSettings(templateId: $id, settings: $settings) }`;
    const { errors } = await ann.gql(set, { id, settings });
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT', validation: [issue] } });
    expect((await ann.get(`${path}/settings`)).body).toEqual({ locale: 'de' });
  });

  test('that was saved before is 400 in checks and renderings', async ({ ann, service }) => {
    const { path, id } = await createRenderable(ann, { files: { 'main.njk': 'x' } }, { handler: 'pdf' });
    await systemQuery(service, 'update dws.template set settings = $2 where id = $1', id, settings);
    const problem = { path: [`settings.${name}`], message: MESSAGE, code: 'TEMPLATE', line: 2, column: 2 };
    expect((await ann.post(`${path}/_check`)).body).toEqual({ ok: false, problems: [problem] });
    const { status, error } = await render(ann, path);
    expect([status, error.validation]).toEqual([400, [problem]]);
  });
});

test('a style sheet of a file of the template is found when it is rendered', async ({ ann }) => {
  const { path } = await createRenderable(
    ann,
    {
      files: { 'main.njk': 'x', 'style.css': '@import "a.css";' },
      settings: { footer: '<style>{% include "style.css" %}</style>' },
    },
    { handler: 'pdf' },
  );
  const { status, error } = await render(ann, path);
  expect([status, error.message]).toEqual([400, `settings.footer: ${MESSAGE}`]);
});

describe.skipIf(!HAS_PRINTER)('a document', () => {
  const printer = openPrinter();
  afterAll(() => printer.close());

  test('whose styles and letterhead import something is printed without it', async () => {
    const style =
      '<style>@import "http://127.0.0.1:9/a.css"; @font-face{font-family:f;src:url(http://127.0.0.1:9/f)}</style>';
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">${style}<rect width="9" height="9"/></svg>`;
    const letterhead = { contentType: 'image/svg+xml', content: Buffer.from(svg) };
    const printed = await printer.print(documentOf(`${style}<b style="font-family:f">x</b>`, { letterhead }));
    expect(printed.pages).toBe(1);
  });
});
