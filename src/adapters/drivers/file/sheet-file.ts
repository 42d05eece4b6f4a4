import { ApiError, badInput } from '../../../core/errors.ts';
import type { FileProblem } from '../../../core/row-source.ts';
import { odsRows, odsSheets } from './ods-reader.ts';
import { type ColumnFix } from './sheet-columns.ts';
import { coverProblem, emptySheetProblem, severalTablesProblem, totalsProblem } from './sheet-problems.ts';
import type { SheetRow } from './sheet-values.ts';
import { SheetWriter, type SheetConfig, type SheetRows } from './sheet-writer.ts';
import { xlsxRows, xlsxSheets, xlsxTables } from './xlsx-reader.ts';
import { ZipArchive } from './zip-archive.ts';

const MAX_LISTED_SHEETS = 50;

/**
 * Reads a sheet of a workbook. Formulas have the values that were stored with them. Empty rows are skipped. Throws
 * BAD_USER_INPUT for a workbook that is broken or encrypted, and for an unknown sheet.
 */
export async function readSheet(file: string, config: SheetConfig): Promise<SheetRows> {
  try {
    const first = await writeSheet(file, config);
    const { sheet, problems } = config.sheet === undefined ? await otherSheet(file, config, first) : NO_OTHER;
    const read = sheet === undefined ? config : { ...config, sheet };
    const writer = sheet === undefined ? first : await writeSheet(file, read);
    const found = writer.columns.result();
    const fixed = found.fixes.size > 0 ? await writeSheet(file, read, found.fixes) : writer;
    for (const unused of new Set([first, writer])) if (unused !== fixed) unused.discard();
    const rows = fixed.end();
    return {
      ...rows,
      ...(sheet !== undefined && { sheet }),
      problems: [...problems, ...(await tableProblems(file, read)), ...rows.problems, ...found.problems],
    };
  } catch (error) {
    if (error instanceof ApiError || isFromSystem(error)) throw error;
    throw badInput(
      `The workbook cannot be read: ${error instanceof Error ? error.message.slice(0, 200) : 'it is broken'}`,
      {
        cause: error,
      },
    );
  }
}

/** Writes the rows of the sheet that is configured. */
async function writeSheet(
  file: string,
  config: SheetConfig,
  fixes?: ReadonlyMap<number, ColumnFix>,
): Promise<SheetWriter> {
  const writer = new SheetWriter(config, fixes);
  for await (const row of rowsOf(file, config)) writer.write(row);
  writer.finish();
  return writer;
}

const NO_OTHER: { sheet?: string; problems: FileProblem[] } = { problems: [] };
/** Most rows and columns of a sheet that may be a cover or notes, and rows of another one that show a table. */
const [COVER_ROWS, COVER_COLUMNS, TABLE_ROWS] = [20, 2, 2];

/**
 * Returns the first sheet with rows, if the first sheet is empty, and a report if other sheets have a table and the
 * first one may be a cover.
 */
async function otherSheet(file: string, config: SheetConfig, { size }: SheetWriter): Promise<typeof NO_OTHER> {
  if (size.rows > 1 && (size.rows > COVER_ROWS || size.columns > COVER_COLUMNS)) return NO_OTHER;
  const archive = ZipArchive.open(file)!;
  const [, ...others] = await (config.format === 'ods' ? odsSheets : xlsxSheets)(archive);
  for (const sheet of others) {
    let [rows, columns] = [0, 0];
    for await (const { values } of rowsOf(file, { ...config, sheet })) {
      rows += 1;
      columns = Math.max(columns, values.length);
      if (rows > COVER_ROWS) break;
    }
    if (size.rows === 0 && rows > 0) return { sheet, problems: [emptySheetProblem(sheet)] };
    if (columns > 1 && rows >= TABLE_ROWS && rows > size.rows) return { problems: [coverProblem(listOf(others))] };
  }
  return NO_OTHER;
}

/** Returns the doubts about the tables that a sheet defines. */
async function tableProblems(file: string, { format, sheet, skip = 0 }: SheetConfig): Promise<FileProblem[]> {
  if (format === 'ods') return [];
  const tables = await xlsxTables(ZipArchive.open(file)!, sheet);
  return [...severalTablesProblem(tables), ...tables.flatMap(totalsProblem)].filter(({ line }) => !line || line > skip);
}

const isFromSystem = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

/** Returns the rows of the sheet that is configured. */
function rowsOf(file: string, { format, sheet }: SheetConfig): AsyncIterable<SheetRow> {
  const archive = ZipArchive.open(file);
  if (!archive) throw new Error('it is cut');
  return (format === 'ods' ? odsRows : xlsxRows)(archive, sheet, unknownSheet);
}

const listOf = (names: string[]): string =>
  names
    .slice(0, MAX_LISTED_SHEETS)
    .map((one) => JSON.stringify(one))
    .join(', ');

const unknownSheet = (names: string[]): Error => badInput(`config.sheet must be one of ${listOf(names)}`);
