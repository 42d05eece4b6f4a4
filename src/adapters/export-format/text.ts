import type { Row } from '../../core/dataset-index.ts';
import type { CsvStyle, ExportEncoder } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';

/** Text format of rows: what precedes, separates and follows them. */
interface TextFormat {
  contentType: string;
  begin(fields: readonly Field[], style: CsvStyle): string;
  rows(rows: readonly Row[], fields: readonly Field[], first: boolean, style: CsvStyle): string;
  end: string;
}

const encoder = (format: TextFormat): ExportEncoder => ({
  contentType: format.contentType,
  async *encode(fields, batches, _title, style = {}) {
    yield format.begin(fields, style);
    let first = true;
    for await (const batch of batches) {
      if (batch.length === 0) continue;
      yield format.rows(batch, fields, first, style);
      first = false;
    }
    if (format.end) yield format.end;
  },
});

/** CSV as in RFC 4180, with a header. Without a style, values that a spreadsheet would run as formulas are not changed. */
export const csv = encoder({
  contentType: 'text/csv; charset=utf-8',
  begin: (fields, { bom, escapeFormulas }) => {
    const names = fields.map(({ name }) => (escapeFormulas ? escaped(name) : name));
    return `${bom ? BYTE_ORDER_MARK : ''}${csvLine(names)}`;
  },
  rows: (rows, fields, _first, { escapeFormulas }) => {
    const valueOf = (value: unknown, type: Field['type']) =>
      type === 'json'
        ? jsonText(value)
        : escapeFormulas && (type === 'string' || type === 'text')
          ? escaped(value)
          : value;
    return rows.map((row) => csvLine(fields.map(({ name, type }) => valueOf(row[name], type)))).join('');
  },
  end: '',
});

/** JSON: one array, one row a line. */
export const json = encoder({
  contentType: 'application/json; charset=utf-8',
  begin: () => '[',
  rows: (rows, _fields, first) => (first ? '\n' : ',\n') + rows.map((row) => JSON.stringify(row)).join(',\n'),
  end: '\n]\n',
});

export const ndjson = encoder({
  contentType: 'application/x-ndjson; charset=utf-8',
  begin: () => '',
  rows: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  end: '',
});

const BYTE_ORDER_MARK = '\uFEFF';
/** Beginnings of texts that spreadsheets run: formulas, and characters that they skip before one. */
const FORMULA = /^[=+\-@\t\r]/;

const escaped = (value: unknown): unknown => (typeof value === 'string' && FORMULA.test(value) ? `'${value}` : value);

/**
 * Formats a record of RFC 4180. A missing value is an empty field, an empty string a quoted one, a document its JSON.
 */
const csvLine = (values: readonly unknown[]): string => `${values.map(csvValue).join(',')}\r\n`;

function csvValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const jsonText = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);
