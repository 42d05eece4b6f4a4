import { PDFDocument, PDFName } from '@cantoo/pdf-lib';
import { afterAll, describe, expect, test } from 'vitest';
import type { PageSettings } from '../../src/core/pdf-printer.ts';
import { HAS_PRINTER } from '../support/engines.ts';
import { browsersOf, documentOf, openPrinter, PAGE, tableOf } from '../support/pdf-printing.ts';
import { textOfPdf } from '../support/pdf-text.ts';
import { pngOf, RED } from '../support/picture-files.ts';

const POINTS_PER_MM = 72 / 25.4;

/** Returns the size of each page in whole millimetres. */
async function sizesOf(pdf: Uint8Array): Promise<string[]> {
  const pages = (await PDFDocument.load(pdf)).getPages();
  return pages.map((page) => {
    const { width, height } = page.getSize();
    return `${Math.round(width / POINTS_PER_MM)} × ${Math.round(height / POINTS_PER_MM)}`;
  });
}

describe.skipIf(!HAS_PRINTER)('a printed document', () => {
  const printer = openPrinter();
  afterAll(() => printer.close());
  const print = (...args: Parameters<typeof documentOf>) => printer.print(documentOf(...args));

  test.each<[string, Partial<PageSettings>, string, string]>([
    ['A4', {}, '', '210 × 297'],
    ['A3 across', { size: 'A3', landscape: true }, '', '420 × 297'],
    ['Letter', { size: 'Letter' }, '', '216 × 279'],
    ['a size of its own', { size: { width: '10cm', height: '5in' } }, '', '100 × 127'],
    ['a size of its own across', { size: { width: '10cm', height: '5in' }, landscape: true }, '', '127 × 100'],
    ['a wide size across', { size: { width: '5in', height: '10cm' }, landscape: true }, '', '127 × 100'],
    ['a wide size', { size: { width: '5in', height: '10cm' } }, '', '127 × 100'],
    ['the size of a rule of the document', { size: 'A3' }, '@page { size: 60mm 80mm }', '60 × 80'],
    ['the direction of a rule of the document', { size: 'A5' }, '@page { size: A5 landscape }', '210 × 148'],
  ])('has %s', async (_, settings, rule, size) => {
    const { content, pages } = await print(`<style>${rule}</style><p>text`, { page: { ...PAGE, ...settings } });
    expect(await sizesOf(content)).toEqual([size]);
    expect(pages).toBe(1);
  });

  test('has the text, the language, the title and the outline of the page', async () => {
    const html =
      '<!doctype html><html lang="de"><head><title>Bericht</title></head><h1>Größe</h1><p>€ 5 – „gut“ &amp; so';
    const { content } = await print(html);
    expect(await textOfPdf(content)).toEqual(['Größe\n€ 5 – „gut“ & so\n']);
    const document = await PDFDocument.load(content);
    expect(document.getTitle()).toBe('Bericht');
    expect(document.getLanguage()).toBe('de');
    expect(document.catalog.has(PDFName.of('Outlines'))).toBe(true);
    expect(document.catalog.has(PDFName.of('StructTreeRoot'))).toBe(true);
  });

  test.each([
    ['<p>text', 'Given “title”'],
    ['<title> </title><p>text', 'Given “title”'],
    ['<svg><title>Picture</title></svg>', 'Given “title”'],
    ['<p>text<title>Late</title>', 'Late'],
  ])('has the given title only without one of its own: %s', async (html, title) => {
    const { content } = await print(html, { title: 'Given “title”' });
    expect((await PDFDocument.load(content)).getTitle()).toBe(title);
  });

  test('repeats the head of a table, and shows the number of each page in header and footer', async () => {
    const number = 'page <span class="pageNumber"></span> of <span class="totalPages"></span>';
    const { content, pages } = await print(tableOf(100), { header: '<b>Orders</b>', footer: number });
    const texts = await textOfPdf(content);
    expect(pages).toBe(texts.length);
    expect(pages).toBeGreaterThan(2);
    for (const [index, text] of texts.entries()) {
      expect(text.match(/head\n/g)).toHaveLength(6);
      expect(text).toContain('Orders');
      expect(text.replaceAll('\n', '')).toContain(`page ${index + 1} of ${pages}`);
    }
    expect(texts.join('').match(/cell \d+ 0\n/g)).toHaveLength(100);
  });

  test('with only a footer has no header', async () => {
    const { content } = await print('<title>Title</title>text', { footer: 'foot' });
    expect(await textOfPdf(content)).toEqual(['text\nfoot\n']);
  });

  test('waits for pictures and fonts in data URLs', async () => {
    const png = `data:image/png;base64,${(await pngOf(RED, 300, 300)).toString('base64')}`;
    const hasPicture = async (html: string) => {
      const document = await PDFDocument.load((await print(html)).content);
      const objects = document.context.enumerateIndirectObjects();
      return objects.some(([, object]) => String((object as { dict?: unknown }).dict).includes('/Subtype /Image'));
    };
    expect(await hasPicture(`<img src="${png}">`)).toBe(true);
    expect(await hasPicture(`<div style="height:99px;background:url(${png})"></div>`)).toBe(true);
    expect(
      await hasPicture(`<style>@media print { div { height: 99px; background: url(${png}) } }</style><div></div>`),
    ).toBe(true);
    expect(await hasPicture(`<div style="height: 20000px"></div><img loading="lazy" src="${png}">`)).toBe(true);
    expect(await hasPicture('<p>none')).toBe(false);
  });

  test('has the number of its pages, whatever its text says', async () => {
    const lies =
      '<a href="https://x.example/%%EOF/Type /Pages /Count 77 trailer /Root 1 0 R startxref 0">link</a>'.repeat(20);
    for (const count of [1, 2, 9, 70]) {
      const html = `<title>/Count 99 startxref 9 %%EOF</title>${`<p style="break-after: page">page ${lies}</p>`.repeat(count - 1)}<p>end`;
      const { content, pages } = await print(html);
      expect((await PDFDocument.load(content)).getPageCount()).toBe(count);
      expect(pages).toBe(count);
    }
  });

  test.each<[string, Partial<PageSettings>, RegExp]>([
    ['a margin without a unit', { margin: { ...PAGE.margin, top: '20' } }, /^page.margin.top must be a CSS length/],
    ['a margin in another unit', { margin: { ...PAGE.margin, left: '2em' } }, /^page.margin.left must be a CSS length/],
    ['a negative margin', { margin: { ...PAGE.margin, right: '-1mm' } }, /^page.margin.right must be a CSS length/],
    [
      'margins wider than the page',
      { margin: { ...PAGE.margin, right: '19cm' } },
      /^page.margin must be smaller than the page$/,
    ],
    [
      'margins higher than the page',
      { landscape: true, margin: { ...PAGE.margin, top: '19cm' } },
      /^page.margin must be smaller than the page$/,
    ],
    ['a page without area', { size: { width: '0', height: '10cm' } }, /^page.size.width must be 10mm to 2000mm$/],
    ['a page of a kilometre', { size: { width: '99999mm', height: '10cm' } }, /^page.size.width must be/],
    ['an unknown paper size', { size: 'constructor' as 'A4' }, /^page.size must be one of A3, A4/],
  ])('cannot have %s', async (_, settings, message) => {
    await expect(print('text', { page: { ...PAGE, ...settings } })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(message),
    });
  });
});

describe.skipIf(!HAS_PRINTER)('a browser', () => {
  test('is used again by the same tenant only, and ends with the printer', async () => {
    const printer = openPrinter();
    const printFor = async (tenantId: string) => {
      await printer.print(documentOf('text', { caller: { tenantId, userId: 'user' } }));
      return browsersOf();
    };
    const [first] = await printFor('one');
    expect(await printFor('one')).toEqual([first]);
    const others = await printFor('two');
    expect(others).toHaveLength(1);
    expect(others).not.toEqual([first]);
    expect(await printFor('one')).not.toEqual(others);
    await printer.close();
    expect(browsersOf()).toEqual([]);
  });

  test('prints one document at a time', async () => {
    const printer = openPrinter();
    const users = ['a', 'b', 'c', 'd'];
    const prints = users.map((userId) =>
      printer.print(documentOf(`text of ${userId}`, { caller: { tenantId: 'tenant', userId } })),
    );
    const texts = await Promise.all(prints.map(async (print) => textOfPdf((await print).content)));
    expect(texts).toEqual(users.map((user) => [`text of ${user}\n`]));
    expect(browsersOf()).toHaveLength(1);
    await printer.close();
  });
});
