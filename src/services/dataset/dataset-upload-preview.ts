import type { UploadDatasetInput } from '../../../entities/upload-input.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { bindParameters, checkParameters } from '../../core/parameters.ts';
import type { FileProblem, QueryResult } from '../../core/row-source.ts';
import { dialectOf } from '../datasource/datasource-access.ts';
import { runQuery } from '../datasource/datasource-probe.ts';
import { storedDefinitions } from '../datasource/query-parameter.ts';
import { receiveFile } from '../datasource/upload.ts';
import { chooseQuery } from './dataset-upload.ts';

const MAX_ROWS = 50;
const LINE_ERROR = /^Line (\d+) of the file:? (.*)$/s;

/** How a file would be uploaded, and its first rows. */
export interface UploadPreview extends Pick<QueryResult, 'fields' | 'rows'> {
  config: Record<string, unknown>;
  problems: FileProblem[];
}

/**
 * Recognises a file as an upload does, and reads its first rows. Stores nothing. An error in a line of the file is a
 * problem, not an error.
 */
export async function preview(ctx: Context, input: UploadDatasetInput): Promise<UploadPreview> {
  try {
    return await receiveFile(ctx, input, async (file, { table, query, params }) => {
      try {
        const definitions = storedDefinitions(params ?? []);
        const text = await chooseQuery(ctx, file, { table, query });
        checkParameters(text, definitions, dialectOf(file.driver.id));
        const source = { type: file.driver.id, config: file.config, secrets: null, fileId: file.id };
        const { fields, rows } = await runQuery(ctx, source, text, bindParameters(definitions), MAX_ROWS);
        return { config: file.config, fields, rows, problems: file.problems };
      } finally {
        await ctx.platform.files.remove(file.id);
      }
    });
  } catch (error) {
    const problem = lineProblem(error);
    if (!problem) throw error;
    return { config: {}, fields: [], rows: [], problems: [problem] };
  }
}

/** Returns the problem that an error names a line of the file for; undefined for other errors. */
function lineProblem(error: unknown): FileProblem | undefined {
  const [, line, message] = (error instanceof ApiError && error.status === 400 && LINE_ERROR.exec(error.message)) || [];
  return line === undefined ? undefined : { line: Number(line), message: message! };
}
