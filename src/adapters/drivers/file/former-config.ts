import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../core/errors.ts';
import type { DetectedFile } from '../../../core/row-source.ts';
import { configSchema, type FileColumn, type FileConfig } from './file-config.ts';

type Detect = (given: Partial<FileConfig>) => Promise<DetectedFile | null>;

/**
 * Detects the config of a file that replaces one that was read with `former`. Settings of `former` are used where
 * `given` has none, unless the file has another format. Columns are found by their names, in the order of the new file.
 * If a value does not fit the former types, all types but text are detected again.
 */
export async function detectLike(
  former: Partial<FileConfig>,
  given: Partial<FileConfig>,
  detect: Detect,
): Promise<DetectedFile | null> {
  const { columns: formerColumns, ...formerSettings } = former;
  const settings = { ...formerSettings, ...given };
  const found = await unlessRefused(() => detect(given));
  if (found === null || (found && found.config['format'] !== former.format)) return found;
  const similar = found && hasSettings(found, settings) ? found : await detect(settings);
  const columns = similar?.config['columns'] as FileColumn[] | undefined;
  if (!columns || !formerColumns || given.columns) return similar;

  const withFormer = (isKept: (column: FileColumn) => boolean) =>
    columns.map((column) => likeFormer(column, formerColumns.filter(isKept)));
  for (const like of [withFormer(() => true), withFormer(({ type }) => type === 'VARCHAR')]) {
    if (isDeepStrictEqual(like, columns)) return similar;
    const fitting = await unlessRefused(() => detect({ ...settings, columns: like }));
    if (fitting) return fitting;
  }
  return similar;
}

const DEFAULTS: Record<string, { description?: string; default?: unknown }> = configSchema.properties;

/** Returns whether a file would be read in the same way with these settings: each pass over a large file takes long. */
const hasSettings = ({ config }: DetectedFile, settings: Partial<FileConfig>): boolean =>
  Object.entries(settings).every(([key, value]) => isDeepStrictEqual(config[key] ?? DEFAULTS[key]?.default, value));

/** Returns the column with the type and reading of its former namesake, if there is one. */
function likeFormer(column: FileColumn, formerColumns: readonly FileColumn[]): FileColumn {
  const former = formerColumns.find(({ name }) => name === column.name);
  if (!former) return column;
  const { key: _, ...reading } = former;
  return { ...reading, ...(column.key !== undefined && { key: column.key }) };
}

/** Returns the detected settings, undefined if the file cannot be read this way. */
async function unlessRefused<T>(detect: () => Promise<T>): Promise<T | undefined> {
  try {
    return await detect();
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return undefined;
    throw error;
  }
}
