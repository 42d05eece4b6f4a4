import type { UploadDatasetInput } from '../../../entities/upload-input.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { parseFlow } from '../../core/flow/parse.ts';
import { bindParameters, checkParameters, storedDefinitions } from '../../core/parameters.ts';
import type { FileProblem, QueryResult } from '../../core/row-source.ts';
import { dialectOf } from '../datasource/datasource-access.ts';
import { runQuery } from '../datasource/datasource-probe.ts';
import { receiveFile } from '../datasource/upload.ts';
import { deleteUnreferenced } from '../resource/stored-file.ts';
import { chooseQuery } from './dataset-upload.ts';

const MAX_ROWS = 50;
const LINE_ERROR = /^Line (\d+) of the file(?:, column ("(?:[^"\\]|\\.)*"))?:? (.*)$/s;

/** Settings of a file's upload, and its first rows. */
export interface UploadPreview extends Pick<QueryResult, 'fields' | 'rows'> {
  config: Record<string, unknown>;
  problems: FileProblem[];
}

/**
 * Recognises a file as an upload does, and reads its first rows. Stores nothing. A line that cannot be read does not fail
 * the preview, but is one of its problems.
 */
export async function preview(ctx: Context, input: UploadDatasetInput): Promise<UploadPreview> {
  try {
    return await receiveFile(ctx, input, async (file, { table, query, params, flow }) => {
      parseFlow(flow ?? []);
      const definitions = storedDefinitions(params ?? []);
      const text = await chooseQuery(ctx, file, { table, query });
      checkParameters(text, definitions, dialectOf(file.driver.id));
      const source = { name: 'upload', type: file.driver.id, config: file.config, secrets: null, fileId: file.id };
      const { fields, rows } = await runQuery(ctx, source, text, bindParameters(definitions), MAX_ROWS);
      await deleteUnreferenced(ctx, [file.id]);
      return { config: file.config, fields, rows, problems: file.problems };
    });
  } catch (error) {
    const problem = lineProblem(error);
    if (!problem) throw error;
    return { config: {}, fields: [], rows: [], problems: [problem] };
  }
}

/** Converts an error at a line of the file to a problem. Returns undefined for other errors. */
function lineProblem(error: unknown): FileProblem | undefined {
  const [, line, column, message] =
    (error instanceof ApiError && error.status === 400 && LINE_ERROR.exec(error.message)) || [];
  if (line === undefined) return undefined;
  return { line: Number(line), ...(column ? { column: JSON.parse(column) as string } : {}), message: message! };
}
