import type { Context } from '../core/context.ts';
import type { Row } from '../core/dataset-index.ts';
import type { Field } from '../core/fields.ts';
import { rowsOf, type RowQuery } from './dataset-data.ts';
import { viewOf, type ViewedDataset } from './dataset-view.ts';

export const EXPORT_FORMATS = ['csv', 'json', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A piece of an export. Name and type of the file are in every piece. */
export interface ExportChunk {
  text: string;
  filename: string;
  contentType: string;
}

/** How rows become a file: what stands before, between and after them. */
interface Encoder {
  contentType: string;
  begin(fields: readonly Field[]): string;
  rows(rows: readonly Row[], fields: readonly Field[], first: boolean): string;
  end: string;
}

const ENCODERS: Record<ExportFormat, Encoder> = {
  csv: {
    contentType: 'text/csv; charset=utf-8',
    begin: (fields) => csvLine(fields.map(({ name }) => name)),
    rows: (rows, fields) => rows.map((row) => csvLine(fields.map(({ name }) => row[name]))).join(''),
    end: '',
  },
  json: {
    contentType: 'application/json; charset=utf-8',
    begin: () => '[',
    rows: (rows, _fields, first) => (first ? '\n' : ',\n') + rows.map((row) => JSON.stringify(row)).join(',\n'),
    end: '\n]\n',
  },
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    begin: () => '',
    rows: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    end: '',
  },
};

/**
 * All rows that the viewer sees, or those that match, as a file in pieces. What is wrong with the request is thrown before the first piece. Nothing is
 * read ahead of the consumer; leaving early ends the query in the index.
 */
export async function exported(ctx: Context, dataset: ViewedDataset & { slug: string }, format: ExportFormat, query: RowQuery): Promise<AsyncGenerator<ExportChunk, void, undefined>> {
  const view = await viewOf(ctx, dataset);
  const { fields, ...rows } = rowsOf(view, query);
  const search = view.generation && { ...rows, generation: view.generation, fields: fields.map(({ name }) => name) };
  const pieces = encoded(ENCODERS[format], fields, (signal) => (search ? ctx.platform.index.scan(search, AbortSignal.any([ctx.request.signal, signal])) : noRows()));
  return named(pieces, { filename: `${dataset.slug}.${format}`, contentType: ENCODERS[format].contentType });
}

async function* noRows(): AsyncGenerator<Row[]> {}

async function* named(pieces: AsyncIterable<string>, file: Omit<ExportChunk, 'text'>): AsyncGenerator<ExportChunk, void, undefined> {
  for await (const text of pieces) yield { text, ...file };
}

async function* encoded(encoder: Encoder, fields: readonly Field[], scan: (signal: AbortSignal) => AsyncIterable<Row[]>): AsyncGenerator<string, void, undefined> {
  const left = new AbortController();
  try {
    yield encoder.begin(fields);
    let first = true;
    for await (const batch of scan(left.signal)) {
      if (batch.length === 0) continue;
      yield encoder.rows(batch, fields, first);
      first = false;
    }
    if (encoder.end) yield encoder.end;
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
