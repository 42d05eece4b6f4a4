import type { FileConfig } from './file-config.ts';
import { arrayPath } from './json-document.ts';
import { utf8Path } from './text-file.ts';

/** Returns a path at which DuckDB can read the table of a file: the file itself or an unlinked copy of the table. */
export function tablePath(file: string, { format, encoding, path }: FileConfig): string {
  if (format === 'parquet') return file;
  const text = utf8Path(file, encoding ?? 'utf-8');
  return format === 'json' && path !== undefined ? arrayPath(text, path) : text;
}
