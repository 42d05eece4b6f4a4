import type { Row } from '../../core/dataset-index.ts';
import type { CsvStyle, ExportEncoder } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';

/** Text format of rows: what precedes, separates and follows them. */
interface TextFormat {
  contentType: string;
  begin(fields: readonly Field[], style: CsvStyle): string;
  /** Returns the text of a row. */
  writer(fields: readonly Field[], style: CsvStyle): (row: Row) => string;
  /** Beginning of the first row, and of each further row. */
  first: string;
  next: string;
  end: string;
}

const encoder = (format: TextFormat): ExportEncoder => ({
  contentType: format.contentType,
  async *encode(fields, batches, _title, style = {}) {
    yield format.begin(fields, style);
    const write = format.writer(fields, style);
    let before = format.first;
    for await (const batch of batches) {
      if (batch.length === 0) continue;
      yield before + batch.map(write).join(format.next);
      before = format.next;
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
  writer: (fields, { escapeFormulas }) => {
    const formOf = ({ type }: Field): ((value: unknown) => unknown) => {
      if (type === 'json') return jsonText;
      if (type === 'number') return decimalText;
      return escapeFormulas && (type === 'string' || type === 'text') ? escaped : (value) => value;
    };
    const columns = fields.map((field) => ({ name: field.name, form: formOf(field) }));
    return (row) => csvLine(columns.map(({ name, form }) => form(row[name])));
  },
  first: '',
  next: '',
  end: '',
});

/** Writes rows as objects, with the fields in their order. A row would order names that are whole numbers first. */
function objectWriter(fields: readonly Field[]): (row: Row) => string {
  const columns = fields.map(({ name, type, format }) => ({
    name,
    key: `${JSON.stringify(name)}:`,
    form: type === 'number' && !format ? (value: unknown) => decimalText(value) ?? 'null' : JSON.stringify,
  }));
  return (row) => `{${columns.map(({ name, key, form }) => key + form(row[name] ?? null)).join(',')}}`;
}

/** JSON: one array, one row a line. */
export const json = encoder({
  contentType: 'application/json; charset=utf-8',
  begin: () => '[',
  writer: objectWriter,
  first: '\n',
  next: ',\n',
  end: '\n]\n',
});

export const ndjson = encoder({
  contentType: 'application/x-ndjson; charset=utf-8',
  begin: () => '',
  writer: (fields) => {
    const write = objectWriter(fields);
    return (row) => `${write(row)}\n`;
  },
  first: '',
  next: '',
  end: '',
});

const BYTE_ORDER_MARK = '\uFEFF';
/** Beginnings of texts that spreadsheets run: formulas, and characters that they skip before one. */
const FORMULA = /^[=+\-@\t\r]/;
const WHOLE = /^-?\d+$/;

const escaped = (value: unknown): unknown => (typeof value === 'string' && FORMULA.test(value) ? `'${value}` : value);

/**
 * Returns a number with a decimal point, so that a field of decimals with whole numbers stays one in a file without
 * types.
 */
function decimalText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value);
  return WHOLE.test(text) ? `${text}.0` : text;
}

/**
 * Values that are quoted: as RFC 4180 requires, texts with blanks around them, and texts that guessing readers take for
 * another delimiter, a comment or the end of the text (Ctrl-Z).
 */
const QUOTED = /^$|[",;|\t\r\n\x1a]|^\s|\s$|^#|^\/\//;

/**
 * Formats a record of RFC 4180. A missing value is an empty field, an empty string a quoted one, a document its JSON.
 */
const csvLine = (values: readonly unknown[]): string => `${values.map(csvValue).join(',')}\r\n`;

function csvValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const jsonText = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);
