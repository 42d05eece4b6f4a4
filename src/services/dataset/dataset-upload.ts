import type { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { badInput } from '../../core/errors.ts';
import { titleOf } from '../../core/files.ts';
import { parseFlow } from '../../core/flow/parse.ts';
import { invalid } from '../../core/input-checks.ts';
import { checkParameters, type ParameterDefinition } from '../../core/parameters.ts';
import { dialectOf } from '../datasource/datasource-access.ts';
import { withSource } from '../datasource/datasource-connection.ts';
import { createUploaded } from '../datasource/datasource-upload.ts';
import { storedDefinitions } from '../datasource/query-parameter.ts';
import { receiveFile, type ReceivedFile, type UploadInput } from '../datasource/upload.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { wait as waitFor } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { createOwned, type OwnedInput } from '../resource/owned-kind.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { begin } from './dataset-refresh.ts';

export interface DatasetUploadInput extends UploadInput, OwnedInput {
  /** Which table of a file that has several; or a query of one's own. */
  table?: string | null;
  query?: string | null;
  params?: ParameterDefinition[] | null;
  flow?: unknown[] | null;
  settings?: Record<string, unknown> | null;
  fieldSecurityEnabled?: boolean | null;
  /** The caller's own name for the loading. */
  progress?: string | number | null;
}

/** An upload that was begun; its rows are there when the operation has succeeded. */
export interface DatasetUpload {
  datasetId: string;
  operation: OperationRecord;
}

/**
 * A file becomes datasource, dataset and rows in one step. When the rows cannot be loaded nothing of it stays, and the error is the answer. The datasource
 * belongs to the dataset's owner and goes with the dataset.
 */
export const upload = (ctx: Context, input: DatasetUploadInput, wait: boolean): Promise<DatasetUpload> =>
  receiveFile(
    ctx,
    input,
    async (file, { table, query, params, flow, settings, fieldSecurityEnabled, progress, ...common }) => {
      const definitions = storedDefinitions(params ?? []);
      const text = await queryOf(ctx, file, { table, query });
      checkParameters(text, definitions, dialectOf(file.driver.id));
      const rest: Partial<Dataset> = {
        query: text,
        params: definitions,
        flow: parseFlow(flow ?? []),
        settings: settings ?? {},
        fieldSecurityEnabled: fieldSecurityEnabled ?? false,
      };
      const made = await ctx.transaction(async (tx) => {
        const owned = { ...common, name: common.name ?? titleOf(file.filename) };
        const datasource = await createUploaded(ctx, tx, file, { name: owned.name, ownerId: owned.ownerId }, true);
        const dataset = await createOwned(ctx, tx, DATASET, owned, { ...rest, datasourceId: datasource.id });
        return { datasetId: dataset.id, operationId: await begin(ctx, tx, dataset, { progress }, { upload: true }) };
      });
      return {
        datasetId: made.datasetId,
        operation: wait ? await waitFor(ctx, made.operationId) : await operations.get(ctx, made.operationId),
      };
    },
  );

/** What to ask of the file: all of it where it is one table, otherwise the table or the query that was named. 400 listing the tables when neither was. */
async function queryOf(
  ctx: Context,
  { driver, config, id }: ReceivedFile,
  { table, query }: Pick<DatasetUploadInput, 'table' | 'query'>,
): Promise<string> {
  if (table && query) throw badInput('An upload takes either table or query, not both');
  if (query) return query;
  const whole = driver.upload.wholeQuery(config);
  if (whole && !table) return whole;
  const tables = await withSource(ctx, { type: driver.id, config, secrets: null, fileId: id }, (connection, signal) =>
    connection.schema(signal),
  );
  const names = tables.map(({ name }) => name);
  const chosen = table ?? (names.length === 1 ? names[0]! : undefined);
  if (chosen === undefined || !names.includes(chosen)) throw invalid('table', `must be one of ${listed(names)}`);
  return `select * from "${chosen.replaceAll('"', '""')}"`;
}

const NAMED = 50;
const listed = (names: string[]): string =>
  `${names.slice(0, NAMED).join(', ') || 'none: the file has no tables'}${names.length > NAMED ? ` and ${names.length - NAMED} more` : ''}`;
