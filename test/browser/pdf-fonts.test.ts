import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { HAS_PRINTER } from '../support/engines.ts';
import { documentOf, openPrinter } from '../support/pdf-printing.ts';
import { contentsOf, fontsOfPdf, textOfPdf } from '../support/pdf-text.ts';
import { pixelsOf } from './letter-pixels.ts';
import { program } from './package-browser.ts';

/** A line of each script, and the font of its letters. */
const SCRIPTS: readonly [name: string, language: string, text: string, font: string][] = [
  ['Latin', 'de', 'Größe Łódź Ażęś', 'NotoSans-Regular'],
  ['Vietnamese', 'vi', 'Tiếng Việt', 'NotoSans-Regular'],
  ['Greek', 'el', 'Ελληνικά', 'NotoSans-Regular'],
  ['Cyrillic', 'ru', 'Привет мир', 'NotoSans-Regular'],
  ['Devanagari', 'hi', 'हिन्दी नमस्ते', 'NotoSans-Regular'],
  ['Arabic', 'ar', 'مرحبا بالعالم', 'NotoNaskhArabic'],
  ['Hebrew', 'he', 'שלום עולם', 'NotoSansHebrew'],
  ['Thai', 'th', 'สวัสดีชาวโลก', 'NotoSansThai-Regular'],
  ['simplified Chinese', 'zh-CN', '简体中文你好世界', 'NotoSansSC-Thin'],
  ['traditional Chinese', 'zh-TW', '繁體中文歡迎光臨', 'NotoSansTC-Thin'],
  ['Japanese', 'ja', '日本語こんにちは', 'NotoSansJP-Thin'],
  ['Korean', 'ko', '한국어안녕하세요', 'NotoSansKR-Thin'],
  ['emoji', 'en', '😀🎉🚀', 'NotoColorEmoji'],
  ['symbols', 'en', '→ ✓ ∑ ★', 'DejaVuSans'],
];

/** Fonts that only draw the spaces of a line. */
const OF_SPACES = 'NotoSans-Regular';

const lineOf = (language: string, text: string) => `<p lang="${language}" style="font-family: sans-serif">${text}</p>`;
const ALL = SCRIPTS.map(([, language, text]) => lineOf(language, text)).join('');

/** Returns whether a page draws the box of a missing character, which is the glyph 0. */
async function hasBoxes(pdf: Uint8Array): Promise<boolean> {
  const pages = (await PDFDocument.load(pdf)).getPages();
  return pages.some((page) =>
    [...contentsOf(page).matchAll(/<((?:[\dA-F]{4})+)>/gi)].some(([, glyphs]) =>
      glyphs!.match(/.{4}/g)!.includes('0000'),
    ),
  );
}

describe.skipIf(!HAS_PRINTER)('the fonts of PDFs', () => {
  const printer = openPrinter();
  const root = mkdtempSync(join(tmpdir(), 'dws-test-'));
  afterAll(async () => {
    await printer.close();
    rmSync(root, { recursive: true, force: true });
  });
  const print = async (html: string) => (await printer.print(documentOf(html))).content;

  test.each(SCRIPTS)('have %s', async (_, language, text, font) => {
    const content = await print(lineOf(language, text));
    expect((await fontsOfPdf(content)).filter((name) => name === font || name !== OF_SPACES)).toEqual([font]);
    expect(await hasBoxes(content)).toBe(false);
  });

  test.each([
    ['sans-serif', 'NotoSans-Regular'],
    ['system-ui', 'NotoSans-Regular'],
    ['Arial', 'NotoSans-Regular'],
    ['Nonesuch, Helvetica', 'NotoSans-Regular'],
    ['serif', 'NotoSerif-Regular'],
    ['Times New Roman', 'NotoSerif-Regular'],
    ['monospace', 'DejaVuSansMono'],
    ['Courier New', 'DejaVuSansMono'],
    ['sans-serif; font-weight: bold', 'NotoSans-Bold'],
    ['serif; font: italic bold 9pt serif', 'NotoSerif-BoldItalic'],
    ['Nonesuch', 'NotoSerif-Regular'],
  ])('show %s in %s', async (family, font) => {
    expect(await fontsOfPdf(await print(`<p style="font-family: ${family}">text`))).toEqual([font]);
  });

  test('keep the text of drawn glyphs', async () => {
    expect((await textOfPdf(await print(lineOf('ko', '한국어'))))[0]!.replaceAll('\n', '')).toBe('한국어');
  });

  test('show the box of a character that none of them has', async () => {
    expect(await hasBoxes(await print('<p>\u{16FE4}\u{1B170}'))).toBe(true);
  });

  test('are the same on a machine with other fonts, also with a browser of the operator', async () => {
    const { path, environment } = await program();
    const data = join(root, 'data');
    mkdirSync(join(data, 'fonts'), { recursive: true });
    copyFileSync('node_modules/dejavu-fonts-ttf/ttf/DejaVuSerif.ttf', join(data, 'fonts', 'DejaVuSerif.ttf'));
    const script = join(root, 'browser');
    const variables = `XDG_DATA_HOME='${data}' LD_LIBRARY_PATH='${environment['LD_LIBRARY_PATH']}' LANG=ja_JP.UTF-8`;
    writeFileSync(script, `#!/bin/sh\n${variables} exec '${path}' "$@"\n`);
    for (const readable of [root, data, join(data, 'fonts'), script]) chmodSync(readable, 0o755);
    const other = openPrinter({ path: script });
    try {
      const html = `${ALL}<p style="font-family: 'DejaVu Serif', serif">text <p>直骨角`;
      const content = (await other.print(documentOf(html))).content;
      const fonts = await fontsOfPdf(content);
      expect(fonts).toEqual(await fontsOfPdf(await print(html)));
      expect(fonts).not.toContain('DejaVuSerif');
    } finally {
      await other.close();
    }
  });

  test('draw each letter in another way', async () => {
    const BOX = '\u{1B170}';
    const letters = [BOX, ...new Set(SCRIPTS.flatMap(([, , text]) => [...text].slice(0, 2)))];
    const pictures = await pixelsOf(letters);
    expect(new Set(pictures).size).toBe(letters.length);
  });
});
