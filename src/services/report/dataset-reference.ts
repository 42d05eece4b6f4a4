import { isDeepStrictEqual } from 'node:util';
import type {
  CreateDatasetReferenceInput,
  UpdateDatasetReferenceInput,
} from '../../../entities/dataset-reference-input.ts';
import { DatasetReference, type Chip } from '../../../entities/dataset-reference.ts';
import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET, REPORT } from '../../../entities/owned-kinds.ts';
import type { Report } from '../../../entities/report.ts';
import type { Context } from '../../core/context.ts';
import { conflict, ApiError, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { visibleFields } from '../dataset/dataset-view.ts';
import { checkVersion, findResourceId, loadResource } from '../resource/load-resource.ts';
import {
  checkAlias,
  checkChips,
  checkLabel,
  checkReferable,
  checkReferenceFilter,
  checkSnapshots,
} from './dataset-reference-checks.ts';
import { existingSnapshots, replaceSnapshots, requireSnapshots } from './dataset-reference-snapshots.ts';
import { visibleFilterAndChips } from './dataset-reference-view.ts';
import { checkJsonSize, removeAlias, renameAlias } from './report-definition.ts';

/** Maximum number of references of one report. */
const MAX_REFERENCES = 100;

/** Attaches a dataset that the caller may read to a report that they may write. Returns the reference's id. */
export function create(
  ctx: Context,
  reportId: string,
  { reportId: reportIdInput, datasetId, ...input }: CreateDatasetReferenceInput,
): Promise<string> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const report = await loadReport(ctx, tx, reportId);
    if ((await findResourceId(ctx, tx, REPORT.table, reportIdInput)) !== report.id) {
      throw invalid('reportId', 'must be the report of the path');
    }
    const [alias, label] = [checkAlias(input.alias), checkLabel(input.label)];
    if ((await tx.count(DatasetReference, { reportId: report.id })) >= MAX_REFERENCES) {
      throw conflict(`A report has at most ${MAX_REFERENCES} dataset references`);
    }
    await checkAliasFree(tx, report, alias);
    const dataset = await loadReferableDataset(ctx, tx, datasetId);
    const fields = await visibleFields(ctx, dataset);
    const snapshots = input.snapshots ? checkSnapshots(input.snapshots) : null;
    const snapshotIds = await requireSnapshots(tx, dataset.id, snapshots?.ids ?? []);
    const content = {
      filter: checkReferenceFilter(input.filter ?? {}, fields),
      chips: checkChips(input.chips ?? [], fields),
      snapshots: snapshots?.settings ?? null,
    };
    const reference = tx.insert(
      newRow(DatasetReference, { tenantId, reportId: report.id, datasetId: dataset.id, alias, label, ...content }),
    );
    bumpVersion(report);
    replaceSnapshots(tx, 'dataset_reference', reference, snapshotIds);
    return reference.id;
  });
}

/**
 * Changes a reference. Absent fields keep their values. A new alias is also replaced in the report's blocks. Returns
 * the reference's id.
 */
export function update(
  ctx: Context,
  reportId: string,
  alias: string,
  input: UpdateDatasetReferenceInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const report = await loadReport(ctx, tx, reportId);
    const reference = await loadReference(ctx, tx, report, alias);
    if (input.alias !== undefined) await changeAlias(tx, report, reference, checkAlias(input.alias));
    if (input.label !== undefined) reference.label = checkLabel(input.label);
    await changeFilterAndChips(ctx, tx, reference, input);
    if (input.snapshots !== undefined) {
      const snapshots = input.snapshots && checkSnapshots(input.snapshots);
      reference.snapshots = snapshots?.settings ?? null;
      // An update ignores ids that are not (or no longer) snapshots of the dataset.
      const snapshotIds = await existingSnapshots(tx, reference.datasetId, snapshots?.ids ?? []);
      replaceSnapshots(tx, 'dataset_reference', reference, snapshotIds);
    }
    bumpVersion(reference);
    bumpVersion(report);
    return reference.id;
  });
}

/** Detaches a dataset from a report and removes the blocks that use it. The dataset stays. */
export async function remove(ctx: Context, reportId: string, alias: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const report = await loadReport(ctx, tx, reportId);
    const reference = await loadReference(ctx, tx, report, alias);
    report.definition = removeAlias(report.definition, reference.alias);
    bumpVersion(report);
    tx.remove(reference);
  });
}

/** Loads and locks the report for a change. `If-Match` is not checked here, as it applies to the reference. */
const loadReport = (ctx: Context, tx: Transaction, id: string): Promise<Report> =>
  loadResource(ctx, tx, REPORT, id, 'report:write');

const loadDataset = (ctx: Context, tx: Transaction, id: string): Promise<Dataset> =>
  loadResource(ctx, tx, DATASET, id, 'dataset:read');

/**
 * Loads a dataset that a report may refer to. Drafts and snapshots are deleted with their dataset, so they are refused.
 */
async function loadReferableDataset(ctx: Context, tx: Transaction, id: string): Promise<Dataset> {
  const dataset = await loadDataset(ctx, tx, id);
  checkReferable(dataset);
  return dataset;
}

/** Loads a reference of a report by its alias, else by its id. */
async function loadReference(ctx: Context, tx: Transaction, report: Report, alias: string): Promise<DatasetReference> {
  const reference =
    (await tx.findOne(DatasetReference, { reportId: report.id, alias })) ??
    (isUuid(alias) ? await tx.findOne(DatasetReference, { reportId: report.id, id: alias.toLowerCase() }) : null);
  if (!reference) throw notFound({ what: 'dataset reference', id: alias });
  checkVersion(ctx, 'dataset reference', reference.version);
  return reference;
}

/** Bumps the version of a row after a change of its children or of tables without an entity. */
function bumpVersion(row: Report | DatasetReference): void {
  row.updatedAt = new Date();
}

/** Throws CONFLICT if the report has a reference with the alias. The caller holds the lock on the report. */
async function checkAliasFree(tx: Transaction, report: Report, alias: string): Promise<void> {
  if ((await tx.count(DatasetReference, { reportId: report.id, alias })) > 0) {
    throw conflict(`The report already has a dataset reference with the alias "${alias}"`);
  }
}

async function changeAlias(tx: Transaction, report: Report, reference: DatasetReference, alias: string): Promise<void> {
  if (alias === reference.alias) return;
  await checkAliasFree(tx, report, alias);
  report.definition = renameAlias(report.definition, reference.alias, alias);
  checkJsonSize(report.definition, 'definition');
  reference.alias = alias;
}

/**
 * Changes filter and chips, checked against the fields that the caller can see. A value equal to the one that the
 * caller was shown does not count as a change, so that sending a response back does not drop what is hidden from them.
 */
async function changeFilterAndChips(
  ctx: Context,
  tx: Transaction,
  reference: DatasetReference,
  { filter, chips }: UpdateDatasetReferenceInput,
): Promise<void> {
  if (filter === undefined && chips === undefined) return;
  const dataset = await loadDataset(ctx, tx, reference.datasetId).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return null;
    throw error;
  });
  const visible = await visibleFilterAndChips(ctx, { ...reference, dataset });
  const changesFilter = filter !== undefined && !isDeepStrictEqual(filter ?? {}, visible.filter);
  const changesChips = chips !== undefined && !isDeepStrictEqual(plainChips(chips), visible.chips);
  if (!changesFilter && !changesChips) return;
  if (!dataset) throw notFound({ what: 'dataset', id: reference.datasetId });
  const fields = await visibleFields(ctx, dataset);
  if (changesFilter) reference.filter = checkReferenceFilter(filter ?? {}, fields);
  if (changesChips) reference.chips = checkChips(chips ?? [], fields);
}

/** Returns chips as plain objects: `isDeepStrictEqual` also compares prototypes. */
const plainChips = (chips: Chip[] | null): Chip[] => (chips ?? []).map(({ field, label }) => ({ field, label }));
