import { escaped } from './xlsx-text.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const SHEET_XML = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const PART_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The parts of a workbook (ECMA-376, part 1) that do not depend on its rows. */
export const ROOT_RELATIONS =
  `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships">` +
  `<Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

/** Indices of cell styles. Cells without one are general. */
export const DATE = 1;
export const DATETIME = 2;
export const TEXT = 3;
export const HEADER = 4;
export const INTEGER = 5;
export const NUMBER = 6;
/** Numbers that are written as texts, because Excel would round them. */
export const EXACT_INTEGER = 7;
export const EXACT_NUMBER = 8;

const FORMATS = [
  '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
  ...[164, 165].map((id) => `<xf numFmtId="${id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`),
  '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1" applyNumberFormat="1"/>',
  '<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" quotePrefix="1" applyNumberFormat="1" applyFont="1"/>',
  ...[1, 166].map((id) => `<xf numFmtId="${id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`),
  ...[1, 166].map(
    (id) => `<xf numFmtId="${id}" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1" applyNumberFormat="1"/>`,
  ),
];

/** Cell styles, in the order of their indices. */
export const STYLES =
  `${DECLARATION}<styleSheet xmlns="${SHEET_XML}"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
  '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/>' +
  '<numFmt numFmtId="166" formatCode="#,##0.00########"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font>' +
  '<font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  `<cellXfs count="${FORMATS.length}">${FORMATS.join('')}</cellXfs>` +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

/** XML of a sheet before and after its rows. The header row is frozen. */
const SHEET_BEGIN =
  `${DECLARATION}<worksheet xmlns="${SHEET_XML}"><sheetViews><sheetView workbookViewId="0">` +
  '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';

/** Returns the part of a sheet before its rows. `widths` are the widths of the columns, in characters. */
export function beginSheet(widths: readonly number[]): string {
  const columns = widths.map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`);
  return `${SHEET_BEGIN}${columns.length > 0 ? `<cols>${columns.join('')}</cols>` : ''}<sheetData>`;
}

/** Returns the part of a sheet after its rows: a filter over all cells, up to `lastCell`. */
export const endSheet = (lastCell: string): string => `</sheetData><autoFilter ref="A1:${lastCell}"/></worksheet>`;

const MAX_NAME = 31;

/** Returns a name that Excel accepts for the sheet with this number. */
function sheetName(title: string, number: number): string {
  const suffix = number === 1 ? '' : ` ${number}`;
  const name = title
    .replace(/[\u0000-\u001f[\]:*?/\\]/g, ' ')
    .slice(0, MAX_NAME - suffix.length)
    .replace(/[\uD800-\uDBFF]$/, '')
    .replace(/^[\s']+|(?<![\s'])[\s']+$/g, '');
  // Excel reserves the name of its history of changes.
  return (name === '' || name.toLowerCase() === 'history' ? 'Data' : name) + suffix;
}

const numbers = (sheets: number): number[] => Array.from({ length: sheets }, (_, i) => i + 1);
/** Returns the path of a sheet, counted from 1. */
export const sheetPath = (number: number): string => `xl/worksheets/sheet${number}.xml`;

/** Returns the parts that list the sheets, `<title>`, `<title> 2`, … */
export function closingParts(sheets: number, title: string): { path: string; text: string }[] {
  const listed = numbers(sheets).map(
    (n) => `<sheet name="${escaped(sheetName(title, n))}" sheetId="${n}" r:id="rId${n}"/>`,
  );
  const related = numbers(sheets).map(
    (n) => `<Relationship Id="rId${n}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${n}.xml"/>`,
  );
  const typed = [
    ['/xl/workbook.xml', 'sheet.main'],
    ['/xl/styles.xml', 'styles'],
    ...numbers(sheets).map((n) => [`/${sheetPath(n)}`, 'worksheet']),
  ];
  return [
    {
      path: 'xl/workbook.xml',
      text:
        `<workbook xmlns="${SHEET_XML}" xmlns:r="${OFFICE}"><bookViews><workbookView/></bookViews>` +
        `<sheets>${listed.join('')}</sheets></workbook>`,
    },
    {
      path: 'xl/_rels/workbook.xml.rels',
      text:
        `<Relationships xmlns="${PACKAGE}/relationships">${related.join('')}` +
        `<Relationship Id="rId${sheets + 1}" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    },
    {
      path: '[Content_Types].xml',
      text:
        `<Types xmlns="${PACKAGE}/content-types">` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        '<Default Extension="xml" ContentType="application/xml"/>' +
        `${typed.map(([part, type]) => `<Override PartName="${part}" ContentType="${PART_TYPE}.${type}+xml"/>`).join('')}</Types>`,
    },
  ].map(({ path, text }) => ({ path, text: DECLARATION + text }));
}
