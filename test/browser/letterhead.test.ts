import { deflateSync } from 'node:zlib';
import { degrees, PDFArray, PDFDict, PDFDocument, PDFName, rgb } from '@cantoo/pdf-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { HAS_PRINTER } from '../support/engines.ts';
import { documentOf, openPrinter, PAGE, tableOf } from '../support/pdf-printing.ts';
import { contentsOf, textOfPdf } from '../support/pdf-text.ts';
import { BLUE, lyingJpeg, pngBomb, pngOf, rasterOf, svgBomb, svgOf } from '../support/picture-files.ts';

/** Creates a PDF of one page with a text. */
async function pdfOf(text: string, width = 595.28, height = 841.89, turned = 0): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const page = document.addPage([width, height]);
  page.setRotation(degrees(turned));
  page.drawRectangle({ x: 0, y: height - 60, width, height: 60, color: rgb(0.8, 0.9, 1) });
  page.drawText(text, { x: 40, y: height - 40 });
  return document.save();
}
const pdf = (content: Uint8Array) => ({ contentType: 'application/pdf', content });

/** Returns where the letterhead of a page is drawn, before everything else: width, height and the distance from the left and the bottom. */
async function placesOf(
  content: Uint8Array,
): Promise<{ place: number[]; form: string; box: string; matrix: string }[]> {
  const document = await PDFDocument.load(content);
  return document.getPages().map((page) => {
    const begin = /^\/Artifact BMC q ([\d.e -]+) cm \/DwsLetterhead Do Q EMC/.exec(contentsOf(page));
    const objects = page.node.Resources()!.lookup(PDFName.of('XObject'), PDFDict);
    const form = objects.get(PDFName.of('DwsLetterhead'))!;
    const { dict } = document.context.lookup(form) as unknown as { dict: PDFDict };
    const round = (array: PDFArray) =>
      array
        .asArray()
        .map((one) => Math.round(Number(one.toString())))
        .join(' ');
    return {
      place: begin![1]!.split(' ').map((one) => Math.round(Number(one) * 100) / 100),
      form: form.toString(),
      box: round(dict.lookup(PDFName.of('BBox'), PDFArray)),
      matrix: round(dict.lookup(PDFName.of('Matrix'), PDFArray)),
    };
  });
}

describe.skipIf(!HAS_PRINTER)('a letterhead', () => {
  const printer = openPrinter();
  afterAll(() => printer.close());
  const print = (letterhead: { contentType: string; content: Uint8Array }, html = tableOf(100), page = PAGE) =>
    printer.print(documentOf(html, { letterhead, page }));

  test('of a PDF is under each page, stored once', async () => {
    const { content, pages } = await print(pdf(await pdfOf('ACME')));
    const places = await placesOf(content);
    expect(places).toHaveLength(pages);
    expect(pages).toBeGreaterThan(2);
    expect(new Set(places.map(({ form }) => form)).size).toBe(1);
    for (const { place } of places) expect(place.slice(0, 4)).toEqual([1, 0, 0, 1]);
    expect((await textOfPdf(content)).join('').match(/cell \d+ 0\n/g)).toHaveLength(100);
  });

  test('keeps title, outline and structure of the document', async () => {
    const html = '<title>Title</title><h1>Head</h1><a href="https://example.com/">link</a>';
    const document = await PDFDocument.load((await print(pdf(await pdfOf('ACME')), html)).content);
    expect(document.getTitle()).toBe('Title');
    expect(document.catalog.has(PDFName.of('Outlines'))).toBe(true);
    expect(document.catalog.has(PDFName.of('StructTreeRoot'))).toBe(true);
    expect(document.getPage(0).node.Annots()!.size()).toBe(1);
  });

  test.each<[string, () => Promise<Uint8Array>, number[], string, string]>([
    [
      'half as wide is drawn twice as large',
      () => pdfOf('A', 298, 421),
      [2, 0, 0, 2, 0, 0],
      '0 0 298 421',
      '1 0 0 1 0 0',
    ],
    [
      'that is turned is drawn upright',
      () => pdfOf('A', 842, 595, 90),
      [1, 0, 0, 1, 0, 0],
      '0 0 842 595',
      '0 -1 1 0 0 842',
    ],
    [
      'that is upside down is drawn upright',
      () => pdfOf('A', 595, 842, 180),
      [1, 0, 0, 1, 0, 0],
      '0 0 595 842',
      '-1 0 0 -1 595 842',
    ],
    ['that is a strip is at the top', () => pdfOf('A', 595, 100), [1, 0, 0, 1, 0, 742], '0 0 595 100', '1 0 0 1 0 0'],
  ])('%s', async (_, create, place, box, matrix) => {
    const [first] = await placesOf((await print(pdf(await create()), '<p>x')).content);
    for (const [index, value] of place.entries()) expect(Math.abs(first!.place[index]! - value)).toBeLessThan(1.5);
    expect(first).toMatchObject({ box, matrix });
  });

  test('is as wide as a page across, from its top', async () => {
    const [first] = await placesOf((await print(pdf(await pdfOf('A')), '<p>x', { ...PAGE, landscape: true })).content);
    expect(first!.place[0]).toBeCloseTo(1.41, 1);
    expect(first!.place[5]).toBeLessThan(-590);
  });

  test.each<[string, string, () => Promise<Uint8Array>]>([
    ['PNG', 'image/png', () => pngOf(BLUE, 300, 60)],
    ['JPEG', 'image/jpeg', () => rasterOf('jpeg')],
    ['JPEG that lies on its side', 'image/jpeg', lyingJpeg],
    ['SVG', 'image/svg+xml; charset=utf-8', async () => Buffer.from(svgOf('<text x="1" y="20">ACME</text>'))],
  ])('can be a picture in %s', async (_, contentType, create) => {
    const { content, pages } = await print({ contentType, content: await create() });
    const places = await placesOf(content);
    expect(places).toHaveLength(pages);
    for (const { place } of places) expect(place[0]).toBeCloseTo(595 / 576, 1);
    expect((await textOfPdf(content))[0]).toContain('cell 0 0');
  });

  test('of SVG stays text and lines', async () => {
    const content = Buffer.from(svgOf('<text x="1" y="20">ACME</text>'));
    expect((await textOfPdf((await print({ contentType: 'image/svg+xml', content }, '<p>x')).content))[0]).toMatch(
      /^ACME\nx/,
    );
  });

  test.each<[string, string, () => Promise<Uint8Array>, RegExp]>([
    ['without content', 'application/pdf', async () => Buffer.alloc(0), /^The letterhead is damaged$/],
    ['that is not a PDF', 'application/pdf', async () => Buffer.from('<html>'), /^The letterhead is damaged$/],
    [
      'that is truncated',
      'application/pdf',
      async () => (await pdfOf('A')).subarray(0, 300),
      /^The letterhead (is damaged|has no pages)$/,
    ],
    [
      'with references in a circle',
      'application/pdf',
      async () => circle(),
      /^The letterhead (is damaged|takes too long to read|needs too much memory)$/,
    ],
    [
      'that unpacks to 1 GB',
      'application/pdf',
      async () => bomb(),
      /^The letterhead (takes too long to read|needs too much memory)$/,
    ],
    ['that is encrypted', 'application/pdf', encrypted, /^The letterhead is encrypted$/],
    [
      'that is not a picture',
      'image/png',
      async () => Buffer.from('text'),
      /^The picture of the letterhead is damaged$/,
    ],
    [
      'that is not an SVG',
      'image/svg+xml',
      async () => Buffer.from('<svg'),
      /^The picture of the letterhead is damaged$/,
    ],
    [
      'of another type',
      'text/html',
      async () => Buffer.from('<p>'),
      /^The letterhead is not one of application\/pdf, image\/png/,
    ],
  ])('%s is an error of its own', async (_, contentType, create, message) => {
    await expect(print({ contentType, content: await create() }, '<p>x')).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(message),
    });
    expect((await print(pdf(await pdfOf('ACME')), '<p>next')).pages).toBe(1);
  });

  test.each<[string, string, () => Promise<Uint8Array> | Uint8Array]>([
    ['a picture of 400 million pixels', 'image/png', () => pngBomb()],
    ['an SVG of copies of copies', 'image/svg+xml', () => Buffer.from(svgBomb())],
  ])('with %s ends this print alone', async (_, contentType, create) => {
    await expect(print({ contentType, content: await create() }, '<p>x')).rejects.toMatchObject({
      code: expect.stringMatching(/^(UPSTREAM_FAILED|TIMEOUT|BAD_USER_INPUT)$/),
    });
    expect((await print(pdf(await pdfOf('ACME')), '<p>next')).pages).toBe(1);
  });
});

/** Creates a PDF whose tree of pages contains itself. */
const circle = (): Uint8Array =>
  Buffer.from(
    '%PDF-1.4\n1 0 obj\n<</Type /Catalog /Pages 2 0 R>>\nendobj\n' +
      '2 0 obj\n<</Type /Pages /Count 1 /Kids [2 0 R]>>\nendobj\ntrailer\n<</Size 3 /Root 1 0 R>>\n%%EOF',
  );

/** Creates a PDF of 4 MB whose page has 1 GB of instructions. */
function bomb(): Uint8Array {
  const data = deflateSync(Buffer.alloc(2 ** 30, ' '), { level: 1 });
  const head =
    '%PDF-1.4\n1 0 obj\n<</Type /Catalog /Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type /Pages /Count 1 /Kids [3 0 R]>>\nendobj\n' +
    '3 0 obj\n<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources <<>> /Contents 4 0 R>>\nendobj\n' +
    `4 0 obj\n<</Length ${data.length} /Filter /FlateDecode>>\nstream\n`;
  return Buffer.concat([
    Buffer.from(head),
    data,
    Buffer.from('\nendstream\nendobj\ntrailer\n<</Size 5 /Root 1 0 R>>\n%%EOF'),
  ]);
}

async function encrypted(): Promise<Uint8Array> {
  const document = await PDFDocument.load(await pdfOf('secret'));
  document.encrypt({ userPassword: 'user', ownerPassword: 'owner' });
  return document.save();
}
