import {
  decodePDFRawStream,
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFName,
  PDFRawStream,
  type PDFPage,
} from '@cantoo/pdf-lib';

/* Reads PDFs as Chromium writes them: glyphs of embedded fonts, with a table of their characters. */

/** Returns the text of each page, with a line break between pieces that are drawn separately. */
export async function textOfPdf(pdf: Uint8Array): Promise<string[]> {
  const document = await PDFDocument.load(pdf, { updateMetadata: false });
  return document.getPages().map((page) => textOf(page.node.Resources(), contentsOf(page)));
}

const latin1 = (stream: PDFRawStream): string => Buffer.from(decodePDFRawStream(stream).decode()).toString('latin1');

/** Returns the names of all fonts of a PDF in the order of the alphabet, without the prefixes of their parts. */
export async function fontsOfPdf(pdf: Uint8Array): Promise<string[]> {
  const { context } = await PDFDocument.load(pdf, { updateMetadata: false });
  const names = context.enumerateIndirectObjects().flatMap(([, object]) => {
    const name = object instanceof PDFDict ? object.get(PDFName.of('FontName')) : undefined;
    return name ? String(name).replace(/^\/(?:[A-Z]{6}\+)?/, '') : [];
  });
  return [...new Set(names)].toSorted();
}

/** Returns the drawing instructions of a page. */
export function contentsOf(page: PDFPage): string {
  const contents = page.node.Contents();
  const streams =
    contents instanceof PDFArray ? contents.asArray().map((ref) => page.node.context.lookup(ref)) : [contents];
  return streams.map((stream) => latin1(stream as PDFRawStream)).join('\n');
}

function textOf(resources: PDFDict | undefined, contents: string): string {
  const fonts = resources?.lookupMaybe(PDFName.of('Font'), PDFDict);
  const objects = resources?.lookupMaybe(PDFName.of('XObject'), PDFDict);
  let characters = new Map<string, string>();
  let text = '';
  let digits = 4;
  for (const [, font, glyphs, object, , end] of contents.matchAll(
    /\/(\S+) [\d.-]+ Tf|<([0-9A-Fa-f]+)>|\/(\S+) Do|(\bTJ?j?\b)|(\bET\b)/g,
  )) {
    if (font) {
      const dictionary = fonts!.lookup(PDFName.of(font), PDFDict);
      characters = charactersOf(dictionary);
      digits = digitsOf(dictionary);
    }
    if (glyphs)
      text += splitGlyphs(glyphs, digits)
        .map((glyph) => characters.get(glyph) ?? '?')
        .join('');
    if (end) text += '\n';
    const drawn = object && objects?.lookup(PDFName.of(object));
    if (drawn instanceof PDFRawStream && drawn.dict.get(PDFName.of('Subtype')) === PDFName.of('Form'))
      text += textOf(drawn.dict.lookupMaybe(PDFName.of('Resources'), PDFDict), latin1(drawn));
  }
  return text;
}

/** Returns the number of hexadecimal digits of a glyph. Drawn fonts (Type3) have glyphs of one byte. */
const digitsOf = (font: PDFDict): number => (font.get(PDFName.of('Subtype')) === PDFName.of('Type3') ? 2 : 4);

/** Returns glyphs in four hexadecimal digits each. */
const splitGlyphs = (glyphs: string, digits: number): string[] =>
  Array.from({ length: glyphs.length / digits }, (_, index) =>
    glyphs
      .slice(index * digits, (index + 1) * digits)
      .toUpperCase()
      .padStart(4, '0'),
  );

/** Returns the characters of a font by its glyphs, in four hexadecimal digits. */
function charactersOf(font: PDFDict): Map<string, string> {
  const characters = new Map<string, string>();
  const stream = font.lookup(PDFName.of('ToUnicode'));
  if (!(stream instanceof PDFRawStream)) return characters;
  const table = latin1(stream);
  const textAt = (hex: string, plus = 0) => {
    const units = hex.match(/.{4}/g)!.map((unit) => Number.parseInt(unit, 16));
    units[units.length - 1]! += plus;
    return String.fromCharCode(...units);
  };
  const set = (glyph: number, text: string) => characters.set(glyph.toString(16).padStart(4, '0').toUpperCase(), text);
  for (const [, lines] of table.matchAll(/beginbfchar([^]*?)endbfchar/g))
    for (const [, glyph, text] of lines!.matchAll(/<(\w+)>\s*<(\w+)>/g))
      set(Number.parseInt(glyph!, 16), textAt(text!));
  for (const [, lines] of table.matchAll(/beginbfrange([^]*?)endbfrange/g))
    for (const [, first, last, text] of lines!.matchAll(/<(\w+)>\s*<(\w+)>\s*<(\w+)>/g)) {
      const begin = Number.parseInt(first!, 16);
      for (let glyph = begin; glyph <= Number.parseInt(last!, 16); glyph++) set(glyph, textAt(text!, glyph - begin));
    }
  return characters;
}
