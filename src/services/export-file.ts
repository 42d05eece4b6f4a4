export const EXPORT_FORMATS = ['csv', 'json', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A piece of an export. Name and type of the file are in every piece. */
export interface ExportChunk {
  text: string;
  filename: string;
  contentType: string;
}

type Row = Record<string, unknown>;

/** How rows become a file: what stands before, between and after them. */
interface Encoder {
  contentType: string;
  begin(columns: readonly string[]): string;
  rows(rows: readonly Row[], columns: readonly string[], first: boolean): string;
  end: string;
}

const ENCODERS: Record<ExportFormat, Encoder> = {
  csv: {
    contentType: 'text/csv; charset=utf-8',
    begin: (columns) => csvLine(columns),
    rows: (rows, columns) => rows.map((row) => csvLine(columns.map((name) => row[name]))).join(''),
    end: '',
  },
  json: {
    contentType: 'application/json; charset=utf-8',
    begin: () => '[',
    rows: (rows, _columns, first) => (first ? '\n' : ',\n') + rows.map((row) => JSON.stringify(row)).join(',\n'),
    end: '\n]\n',
  },
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    begin: () => '',
    rows: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    end: '',
  },
};

/** The rows of `scan` as a file in pieces. Nothing is read ahead of the consumer; leaving early aborts the scan's signal. */
export async function* fileOf(format: ExportFormat, name: string, columns: readonly string[], scan: (signal: AbortSignal) => AsyncIterable<Row[]>): AsyncGenerator<ExportChunk, void, undefined> {
  const encoder = ENCODERS[format];
  const piece = (text: string): ExportChunk => ({ text, filename: `${name}.${format}`, contentType: encoder.contentType });
  const left = new AbortController();
  try {
    yield piece(encoder.begin(columns));
    let first = true;
    for await (const batch of scan(left.signal)) {
      if (batch.length === 0) continue;
      yield piece(encoder.rows(batch, columns, first));
      first = false;
    }
    if (encoder.end) yield piece(encoder.end);
  } finally {
    left.abort();
  }
}

/** A record of RFC 4180. A missing value is an empty field, an empty string a quoted one. */
const csvLine = (values: readonly unknown[]): string => `${values.map(csvValue).join(',')}\r\n`;

function csvValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
