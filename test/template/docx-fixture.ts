import { inflateRawSync } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { zipArchiveOf } from '../support/zip-archive.ts';

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
export const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const RELATIONS_TYPE = 'application/vnd.openxmlformats-package.relationships+xml';
const MAIN_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

/** Returns a paragraph. */
const paragraph = (text: string): string => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

/** Creates a Word document. Texts become paragraphs; others entries are added or replaced. */
export const docxOf = (texts: readonly string[], entries: Record<string, string> = {}): Buffer =>
  zipArchiveOf({
    '[Content_Types].xml':
      `${DECLARATION}<Types xmlns="${TYPES}"><Default Extension="rels" ContentType="${RELATIONS_TYPE}"/>` +
      `<Override PartName="/word/document.xml" ContentType="${MAIN_TYPE}"/></Types>`,
    '_rels/.rels':
      `${DECLARATION}<Relationships xmlns="${RELATIONS}">` +
      `<Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': `${DECLARATION}<w:document xmlns:w="${WORD}"><w:body>${texts.map(paragraph).join('')}</w:body></w:document>`,
    ...entries,
  });

/** Returns the entries of an archive with their texts, by its directory. */
export function entriesOf(archive: Uint8Array): Record<string, string> {
  const bytes = Buffer.from(archive);
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const entries: Record<string, string> = {};
  let at = bytes.readUInt32LE(end + 16);
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    const [name, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
    const isStored = bytes.readUInt16LE(at + 10) === 0;
    entries[bytes.toString('utf8', at + 46, at + 46 + name)] = (isStored ? packed : inflateRawSync(packed)).toString();
    at += 46 + name + extra + comment;
  }
  return entries;
}

/** Returns the paragraphs of a Word document, which must be well-formed. A line break is `|`. */
export function paragraphsOf(archive: Uint8Array): string[] {
  const paragraphs: string[] = [];
  let isText = false;
  const parser = new SaxesParser({ xmlns: true });
  parser.on('opentag', ({ name }) => {
    if (name === 'w:p') paragraphs.push('');
    if (name === 'w:br') paragraphs[paragraphs.length - 1] += '|';
    isText = name === 'w:t';
  });
  parser.on('closetag', () => {
    isText = false;
  });
  parser.on('text', (text) => {
    if (isText) paragraphs[paragraphs.length - 1] += text;
  });
  parser.write(entriesOf(archive)['word/document.xml']!).close();
  return paragraphs;
}
