import { exactDecimalsPath } from './exact-decimals.ts';
import type { FileConfig } from './file-config.ts';
import { arrayPath } from './json-document.ts';
import { readSheet, type SheetRows } from './sheet-file.ts';
import { utf8Path } from './text-file.ts';

/** Where DuckDB reads the table of a file. */
export interface TableSource {
  /** Path of the file itself, or of an unlinked copy of the table. */
  path: string;
  /** Names of a sheet's columns, whether its first row contains them, and what cannot be read. */
  sheet?: Omit<SheetRows, 'path'>;
  /** Whether decimals of JSON are marked (exact-decimals.ts). */
  marked?: boolean;
}

/** Prepares the table of a file for DuckDB. */
export async function openSource(file: string, config: FileConfig): Promise<TableSource> {
  const { format, encoding, path } = config;
  if (format === 'parquet') return { path: file };
  if (isWorkbook(format)) {
    const { path: rows, ...sheet } = await readSheet(file, config);
    return { path: rows, sheet };
  }
  const text = utf8Path(file, encoding ?? 'utf-8');
  const table = format === 'json' && path !== undefined ? arrayPath(text, path) : text;
  return format === 'csv' ? { path: table } : exactDecimalsPath(table);
}

/** Returns whether files of a format contain sheets. */
export const isWorkbook = (format: FileConfig['format']): boolean => format === 'xlsx' || format === 'ods';
