import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../core/errors.ts';
import type { DetectedFile, FileProblem } from '../../../core/row-source.ts';
import type { ColumnsFrom } from '../query-process/work.ts';
import { configSchema, type FileColumn, type FileConfig } from './file-config.ts';
import { MAY_BE_CODES, SEVERAL_WAYS } from './reading-doubts.ts';

type Detect = (given: Partial<FileConfig>, columnsFrom?: ColumnsFrom) => Promise<DetectedFile | null>;

/**
 * Detects the config of a file that replaces one that was read with `former`. Settings of `former` are used where
 * `given` has none, unless the file has another format. Columns are found by their names, in the order of the new file.
 * If detection would not accept a value with the former types, all types but text are detected again.
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
  if (!similar || !columns || !formerColumns || given.columns) return similar;

  const withFormer = (isKept: (column: FileColumn) => boolean) =>
    columns.map((column) => likeFormer(column, formerColumns.filter(isKept)));
  for (const like of [withFormer(() => true), withFormer(({ type }) => type === 'VARCHAR')]) {
    if (isDeepStrictEqual(like, columns)) return similar;
    const fitting = await unlessRefused(() => detect({ ...settings, columns: like }, 'former'));
    if (fitting) return { ...fitting, problems: [...fitting.problems, ...doubtsOf(similar, like, fitting.problems)] };
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

/**
 * Returns the doubts about the columns of the new file as detected alone, which are not in `reported`. A column with several
 * readings has the former one in `like`.
 */
function doubtsOf(
  { config, problems }: DetectedFile,
  like: readonly FileColumn[],
  reported: readonly FileProblem[],
): FileProblem[] {
  const alone = config['columns'] as FileColumn[];
  return problems.flatMap((problem) => {
    const i = alone.findIndex(({ name }) => name === problem.column);
    if (i < 0 || reported.some((other) => isDeepStrictEqual(other, problem))) return [];
    if (isDeepStrictEqual(like[i], alone[i])) return [problem];
    if (like[i]!.type === 'VARCHAR') return [];
    if (problem.message.startsWith(SEVERAL_WAYS)) return [{ ...problem, message: readAsFormer(like[i]!) }];
    return problem.message.endsWith(MAY_BE_CODES) ? [problem] : [];
  });
}

/** Returns the report on a column with several readings. */
function readAsFormer({ dateFormat, decimal = '.' }: FileColumn): string {
  const [setting, value] = dateFormat === undefined ? ['decimal', decimal] : ['dateFormat', dateFormat];
  return (
    `${SEVERAL_WAYS}, and are read as in the former file, with the ${setting} ${JSON.stringify(value)}. ` +
    `Set ${setting}, or its type in columns`
  );
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
