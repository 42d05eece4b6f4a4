import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { UploadDatasetInput } from '../../../entities/upload-input.ts';
import type { Context } from '../../core/context.ts';
import { badInput } from '../../core/errors.ts';
import { titleOf } from '../../core/files.ts';
import { parseFlow } from '../../core/flow/parse.ts';
import { invalid } from '../../core/input-checks.ts';
import { checkParameters, storedDefinitions } from '../../core/parameters.ts';
import type { FileProblem } from '../../core/row-source.ts';
import { dialectOf } from '../datasource/datasource-access.ts';
import { withSource } from '../datasource/datasource-connection.ts';
import { createUploaded } from '../datasource/datasource-upload.ts';
import { receiveFile, type ReceivedFile } from '../datasource/upload.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { wait as waitFor } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { createOwned } from '../resource/owned-kind.ts';
import { startRefresh } from './dataset-refresh.ts';

interface DatasetUploadInput extends UploadDatasetInput {
  /** The client's name for the operation. */
  progress?: string | number | null;
}

/** A started upload. The dataset has its rows after the operation succeeded. */
export interface DatasetUpload {
  datasetId: string;
  operation: OperationRecord;
  /** Doubtful points of the file. */
  problems: FileProblem[];
}

/**
 * Creates a datasource and a dataset from an uploaded file and loads the rows. If they cannot be loaded, throws the
 * error and leaves nothing behind. The datasource belongs to the dataset's owner and is deleted with the dataset.
 */
export const upload = (ctx: Context, input: DatasetUploadInput, wait: boolean): Promise<DatasetUpload> =>
  receiveFile(
    ctx,
    input,
    async (file, { table, query, params, flow, settings, fieldSecurityEnabled, progress, ...common }) => {
      const definitions = storedDefinitions(params ?? []);
      const text = await chooseQuery(ctx, file, { table, query });
      checkParameters(text, definitions, dialectOf(file.driver.id));
      const rest: Partial<Dataset> = {
        query: text,
        params: definitions,
        flow: parseFlow(flow ?? []),
        settings: settings ?? {},
        fieldSecurityEnabled: fieldSecurityEnabled ?? false,
      };
      const created = await ctx.transaction(async (tx) => {
        const owned = { ...common, name: common.name ?? titleOf(file.filename) };
        const datasource = await createUploaded(ctx, tx, file, { name: owned.name, ownerId: owned.ownerId }, true);
        const dataset = await createOwned(ctx, tx, DATASET, owned, { ...rest, datasourceId: datasource.id });
        return {
          datasetId: dataset.id,
          operationId: await startRefresh(ctx, tx, dataset, { progress }, { upload: true }),
        };
      });
      return {
        datasetId: created.datasetId,
        problems: file.problems,
        operation: wait ? await waitFor(ctx, created.operationId) : await operations.get(ctx, created.operationId),
      };
    },
  );

/**
 * Returns the query to run on an uploaded file: the given query, else one that selects the given or the only table.
 * Throws 400 with the names of the tables if the table is unknown or missing.
 */
export async function chooseQuery(
  ctx: Context,
  { driver, config, id }: ReceivedFile,
  { table, query }: Pick<DatasetUploadInput, 'table' | 'query'>,
): Promise<string> {
  if (table && query) throw badInput('An upload accepts either table or query, not both');
  if (query) return query;
  const whole = driver.upload.defaultQuery(config);
  if (whole && !table) return whole;
  const source = { name: 'upload', type: driver.id, config, secrets: null, fileId: id };
  const tables = await withSource(ctx, source, (connection, signal) => connection.schema(signal));
  const names = tables.map(({ name }) => name);
  const chosen = table ?? (names.length === 1 ? names[0]! : undefined);
  if (names.length === 0) throw invalid('table', 'cannot be chosen: the file has no tables');
  if (chosen === undefined || !names.includes(chosen)) throw invalid('table', `must be one of ${listTables(names)}`);
  return `select * from "${chosen.replaceAll('"', '""')}"`;
}

const MAX_LISTED_TABLES = 50;

function listTables(names: string[]): string {
  const listed = names.slice(0, MAX_LISTED_TABLES).join(', ');
  const unlisted = names.length - MAX_LISTED_TABLES;
  return unlisted > 0 ? `${listed} and ${unlisted} more` : listed;
}
