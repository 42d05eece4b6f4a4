import { crc32, deflateRawSync } from 'node:zlib';

/** Creates a ZIP archive of texts by their paths. */
export function zipArchiveOf(entries: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(entries)) {
    const name = Buffer.from(path);
    const content = Buffer.from(text);
    // The first entry of an ODS file is not compressed.
    const stored = path === 'mimetype';
    const packed = stored ? content : deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, entry, name);
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), common, name, packed);
    offset += 4 + common.length + name.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  const count = Object.keys(entries).length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (...targets: [id: string, type: string, target: string][]): string =>
  `<Relationships>${targets
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/** Returns the styles of cells: style 0 is the general format, and those from 1 have these formats. */
function stylesOf(formats: string[]): string {
  const codes = formats.map((code, i) => `<numFmt numFmtId="${200 + i}" formatCode="${code}"/>`);
  const styles = formats.map((_, i) => `<xf numFmtId="${200 + i}"/>`);
  return `<styleSheet><numFmts>${codes.join('')}</numFmts><cellXfs><xf numFmtId="0"/>${styles.join('')}</cellXfs></styleSheet>`;
}

/**
 * Creates a workbook with one sheet, whose rows are XML, these shared strings, these formats as styles from 1, and tables
 * with these attributes.
 */
export function xlsxOf(
  rows: string,
  sharedStrings: string[] = [],
  formats: string[] = [],
  tables: string[] = [],
): Buffer {
  const tablesOfSheet = tables.map((_, i): [string, string, string] => [`rId${i}`, 'table', `../tables/table${i}.xml`]);
  return zipArchiveOf({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relations(['rId1', 'officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': '<workbook xmlns:r="x"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relations(
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'sharedStrings', 'sharedStrings.xml'],
      ['rId3', 'styles', 'styles.xml'],
    ),
    'xl/styles.xml': stylesOf(formats),
    'xl/sharedStrings.xml': `<sst>${sharedStrings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    'xl/worksheets/_rels/sheet1.xml.rels': relations(...tablesOfSheet),
    ...Object.fromEntries(tables.map((attributes, i) => [`xl/tables/table${i}.xml`, `<table ${attributes}/>`])),
  });
}

/** Creates an ODS file with one sheet, whose rows are XML. */
export const odsOf = (rows: string): Buffer =>
  zipArchiveOf({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml':
      '<office:document-content><office:body><office:spreadsheet><table:table table:name="One">' +
      `${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
  });
