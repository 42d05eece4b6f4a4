import { afterAll, describe, expect, test } from 'vitest';
import type { ApiError } from '../../src/core/errors.ts';
import type { PdfDocument } from '../../src/core/pdf-printer.ts';
import { HAS_PRINTER } from '../support/engines.ts';
import { browsersOf, documentOf, openPrinter, processesOf, tableOf } from '../support/pdf-printing.ts';
import { textOfPdf } from '../support/pdf-text.ts';
import { pngBomb } from '../support/picture-files.ts';

const BOMB = `data:image/png;base64,${pngBomb().toString('base64')}`;
const copies = (count: number, create: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => create(n)).join('');

/** Variables of CSS, each ten times as long as the one before. */
const DOUBLING = `:root{--a0:xxxxxxxxxx;${copies(30, (n) => `--a${n + 1}:${`var(--a${n})`.repeat(10)};`)}}`;

/** Documents that a browser prints. */
const PRINTED: Record<string, string> = {
  'animations without end':
    '<style>@keyframes a{from{width:1px}to{width:900px}}div{animation:a .01s infinite}</style><div>begin</div>'.concat(
      '<div>x</div>'.repeat(500),
    ),
  'scripts that loop': '<script>for(;;);</script><img src="x:" onerror="for(;;);"><body onload="for(;;);">begin',
  'a refresh to another page': '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">begin',
  'a refresh to a script': '<meta http-equiv="refresh" content="0;url=javascript:for(;;);">begin',
  'frames with scripts': '<p>begin<iframe srcdoc="<script>for(;;);</script>"></iframe>',
  'a page of one pixel': '<style>@page{size:1px 1px;margin:0}</style>begin',
  'margins larger than the page': '<style>@page{margin:50cm}</style>begin',
  'a page of kilometres': '<style>@page{size:100000in 100000in}</style>begin',
  'thousands of columns': `<div style="columns:10000 1px">begin ${'x '.repeat(5000)}</div>`,
  'values that double': `<style>${DOUBLING}p::before{content:var(--a30)}</style><p>begin`,
  'deep grids': `begin${'<div style="display:grid;grid-template-columns:min-content 1fr">'.repeat(200)}x`,
  'an unclosed comment': 'begin<!-- ',
  'a null character': 'begin\0end',
  'half a character': 'begin\ud800end',
};

/** Documents that no browser can print in the memory and time, and what their errors may be. */
const FAILED: Record<string, [html: string, code: RegExp]> = {
  '100,000 nested elements': ['<div>'.repeat(100_000), /^(UPSTREAM_FAILED|TIMEOUT)$/],
  '1,000 nested tables': ['<table><tr><td>'.repeat(1000), /^(UPSTREAM_FAILED|TIMEOUT)$/],
  '5 MB of a table': [tableOf(48_000), /^(UPSTREAM_FAILED|TIMEOUT)$/],
  'cells over 65,000 rows': [
    `<table>${`<tr>${'<td rowspan=65000 colspan=900>x</td>'.repeat(20)}</tr>`.repeat(50)}`,
    /^(UPSTREAM_FAILED|TIMEOUT)$/,
  ],
  'a picture of 400 million pixels': [`<img src="${BOMB}">`, /^UPSTREAM_FAILED$/],
  'a background of 400 million pixels': [`<div style="height:99px;background:url(${BOMB})">`, /^UPSTREAM_FAILED$/],
  'an SVG of copies of copies': [
    `<svg><g id="a">x</g>${copies(30, (n) => `<g id="a${n}">${`<use href="#a${n ? n - 1 : ''}"/>`.repeat(10)}</g>`)}</svg>`,
    /^(UPSTREAM_FAILED|TIMEOUT)$/,
  ],
};

describe.skipIf(!HAS_PRINTER)('a document with', () => {
  const printer = openPrinter({ printMs: 30_000 });
  afterAll(() => printer.close());
  const print = (html: string, more: Partial<PdfDocument> = {}) => printer.print(documentOf(html, more));

  test.each(Object.entries(PRINTED))('%s is printed', async (_, html) => {
    const { content, pages } = await print(html);
    const texts = await textOfPdf(content);
    expect(texts).toHaveLength(pages);
    expect(texts.join('').replaceAll('\n', '')).toMatch(/begin|^b?e?g?i?n?/);
  });

  test.each(Object.entries(FAILED))('%s fails, and the next print is right', async (_, [html, code]) => {
    await expect(print(html)).rejects.toMatchObject({ code: expect.stringMatching(code) });
    expect(browsersOf()).toEqual([]);
    expect(await textOfPdf((await print('<p>next')).content)).toEqual(['next\n']);
    const [browser] = browsersOf();
    expect(
      processesOf(browser!).filter(({ command }) => command.includes('--type=renderer')).length,
    ).toBeLessThanOrEqual(1);
  });

  test('a style sheet in its header fails with a hint, and the next print is right', async () => {
    await expect(print('x', { header: '<link rel="stylesheet" href="http://127.0.0.1:9/">' })).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: expect.stringMatching(/Header and footer can load nothing but pictures in data URLs$/),
    });
    expect((await print('<p>next')).pages).toBe(1);
  });

  test.each(['0', '0;url=about:blank'])('a refresh (%s) is refused, or printed before', async (refresh) => {
    const text = await print(`<meta http-equiv="refresh" content="${refresh}">begin`).then(
      async ({ content }) => (await textOfPdf(content)).join(''),
      (error: ApiError) => `${error.code}: ${error.message}`,
    );
    expect(text).toMatch(/^(begin\n|BAD_USER_INPUT: The document leads to another page.*)$/);
    expect(await textOfPdf((await print('<p>next')).content)).toEqual(['next\n']);
  });

  test('a PDF past its maximum size is too large, and the next print is right', async () => {
    const small = openPrinter({ maxBytes: 100_000 });
    await expect(small.print(documentOf(tableOf(100)))).rejects.toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The PDF has more than 0.1 MB',
    });
    expect((await small.print(documentOf('<p>next'))).pages).toBe(1);
    await small.close();
  });
});
