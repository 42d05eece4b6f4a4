import { existsSync } from 'node:fs';
import { badInput } from '../../../core/errors.ts';
import { dialectOf, type CsvDialect } from './csv-dialect.ts';
import { csvSource, type CsvSource } from './csv-source.ts';
import { exactDecimalsPath } from './exact-decimals.ts';
import type { FileConfig } from './file-config.ts';
import { arrayPath } from './json-document.ts';
import { readSheet } from './sheet-file.ts';
import type { SheetRows } from './sheet-writer.ts';
import { utf8Path } from './text-file.ts';

/** Where DuckDB reads the table of a file. */
export interface TableSource {
  /** Path of the file itself, or of an unlinked copy of the table. */
  path: string;
  /**
   * Names of a sheet's columns, whether its first row contains them, columns of texts, and cells that cannot be read.
   */
  sheet?: Omit<SheetRows, 'path' | 'hasDigits'>;
  /** Whether decimals of JSON, or of a sheet, are marked (exact-decimals.ts). */
  marked?: boolean;
  csv?: CsvSource;
}

/** Prepares the table of a file for DuckDB. */
export async function openSource(file: string, config: FileConfig): Promise<TableSource> {
  const { format, encoding, path } = config;
  if (!existsSync(file)) throw badInput('The file of the datasource is missing');
  if (format === 'parquet') return { path: file };
  if (isWorkbook(format)) {
    const { path: rows, hasDigits, ...sheet } = await readSheet(file, config);
    return { ...(hasDigits ? exactDecimalsPath(rows) : { path: rows }), sheet };
  }
  const text = utf8Path(file, encoding ?? 'utf-8', { unmarked: format === 'ndjson' });
  if (format === 'csv') return openCsv(text, dialectOf(text, config));
  return exactDecimalsPath(format === 'json' && path !== undefined ? arrayPath(text, path) : text);
}

/** Prepares the table of a CSV file in UTF-8 for DuckDB. */
export function openCsv(path: string, dialect: CsvDialect): TableSource {
  const csv = csvSource(path, dialect);
  return { path: csv.path, csv };
}

/** Returns whether files of a format contain sheets. */
export const isWorkbook = (format: FileConfig['format']): boolean => format === 'xlsx' || format === 'ods';
