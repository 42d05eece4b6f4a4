import { isDeepStrictEqual } from 'node:util';
import { DatasetReference, type Chip } from '../../../entities/dataset-reference.ts';
import type { Dataset } from '../../../entities/dataset.ts';
import type { Report } from '../../../entities/report.ts';
import type { Context } from '../../core/context.ts';
import { conflict, ApiError, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { visibleFields } from '../dataset/dataset-view.ts';
import { checkVersion, findResourceId, load } from '../resource/load-resource.ts';
import { DATASET, REPORT } from '../resource/owned-kinds.ts';
import {
  checkedAlias,
  checkedChips,
  checkedFilter,
  checkedLabel,
  checkedSnapshots,
  type SnapshotsInput,
} from './dataset-reference-checks.ts';
import { shownParts } from './dataset-reference-view.ts';
import { checkSize, renamed, without } from './report-definition.ts';

export interface DatasetReferenceInput {
  alias?: string | null;
  label?: string | null;
  /** `{criteria: [{field, op, value}]}`; null for all rows. */
  filter?: Record<string, unknown> | null;
  chips?: Chip[] | null;
  /** Null for the current rows alone. */
  snapshots?: SnapshotsInput | null;
}

/** What one report may have. */
const MAX_REFERENCES = 100;

/** Attaches a dataset that the caller may read to a report that they may write. Answers the reference's id. */
export function create(
  ctx: Context,
  reportId: string,
  { reportId: named, datasetId, ...input }: DatasetReferenceInput & { reportId: string; datasetId: string },
): Promise<string> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const report = await loadReport(ctx, tx, reportId);
    if ((await findResourceId(ctx, tx, REPORT.table, named)) !== report.id)
      throw invalid('reportId', 'is not the report of the path');
    const [alias, label] = [checkedAlias(input.alias), checkedLabel(input.label)];
    if ((await tx.em.count(DatasetReference, { reportId: report.id })) >= MAX_REFERENCES)
      throw conflict(`A report has at most ${MAX_REFERENCES} dataset references`);
    await checkFree(tx, report, alias);
    const dataset = await usableDataset(ctx, tx, datasetId);
    const fields = await visibleFields(ctx, dataset);
    const snapshots = input.snapshots ? checkedSnapshots(input.snapshots) : null;
    const chosen = await snapshotsAmong(tx, dataset.id, snapshots?.ids ?? []);
    const unknown = snapshots?.ids.find((id) => !chosen.includes(id.toLowerCase()));
    if (unknown !== undefined) throw notFound({ what: 'snapshot', id: unknown });
    const parts = {
      filter: checkedFilter(input.filter ?? {}, fields),
      chips: checkedChips(input.chips ?? [], fields),
      snapshots: snapshots?.settings ?? null,
    };
    const reference = tx.em.create(
      DatasetReference,
      { tenantId, reportId: report.id, datasetId: dataset.id, alias, label, ...parts },
      { partial: true },
    );
    tx.em.persist(reference);
    touch(report);
    await choose(tx, reference, chosen);
    return reference.id;
  });
}

/** Changes a reference; what the input does not name stays. A new alias is put into the report's definition. Answers the reference's id. */
export function update(ctx: Context, reportId: string, alias: string, input: DatasetReferenceInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const report = await loadReport(ctx, tx, reportId);
    const reference = await loadReference(ctx, tx, report, alias);
    if (input.alias !== undefined) await rename(tx, report, reference, checkedAlias(input.alias));
    if (input.label !== undefined) reference.label = checkedLabel(input.label);
    await changeParts(ctx, tx, reference, input);
    if (input.snapshots !== undefined) {
      const snapshots = input.snapshots && checkedSnapshots(input.snapshots);
      reference.snapshots = snapshots?.settings ?? null;
      // What is no snapshot of the dataset (any more) is passed over (specification, "On update").
      await choose(tx, reference, await snapshotsAmong(tx, reference.datasetId, snapshots?.ids ?? []));
    }
    touch(reference);
    touch(report);
    return reference.id;
  });
}

/** Takes a dataset out of a report, with the blocks that use it. The dataset stays. */
export async function remove(ctx: Context, reportId: string, alias: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const report = await loadReport(ctx, tx, reportId);
    const reference = await loadReference(ctx, tx, report, alias);
    report.definition = without(report.definition, reference.alias);
    touch(report);
    tx.em.remove(reference);
  });
}

/** The report for a change; `If-Match` speaks of the reference. */
const loadReport = (ctx: Context, tx: Transaction, id: string): Promise<Report> =>
  load(ctx, tx, REPORT, id, 'report:write');

const loadDataset = (ctx: Context, tx: Transaction, id: string): Promise<Dataset> =>
  load(ctx, tx, DATASET, id, 'dataset:read');

async function usableDataset(ctx: Context, tx: Transaction, id: string): Promise<Dataset> {
  const dataset = await loadDataset(ctx, tx, id);
  // It would go with its dataset, which nobody would expect of something that a report shows.
  if (dataset.parentId)
    throw invalid('datasetId', 'is that of a draft or snapshot: name its dataset, and the snapshot in `snapshots`');
  return dataset;
}

async function loadReference(ctx: Context, tx: Transaction, report: Report, alias: string): Promise<DatasetReference> {
  const reference = await tx.em.findOne(DatasetReference, { reportId: report.id, alias });
  if (!reference) throw notFound({ what: 'dataset reference', id: alias });
  checkVersion(ctx, 'dataset reference', reference.version);
  return reference;
}

/** What changes below a row, or in tables of no entity, is a new version of it too. */
function touch(row: Report | DatasetReference): void {
  row.updatedAt = new Date();
}

/** The report is locked, so that nobody takes the alias meanwhile. */
async function checkFree(tx: Transaction, report: Report, alias: string): Promise<void> {
  if ((await tx.em.count(DatasetReference, { reportId: report.id, alias })) > 0)
    throw conflict(`The report has another dataset reference called "${alias}"`);
}

async function rename(tx: Transaction, report: Report, reference: DatasetReference, alias: string): Promise<void> {
  if (alias === reference.alias) return;
  await checkFree(tx, report, alias);
  report.definition = renamed(report.definition, reference.alias, alias);
  checkSize(report.definition, 'definition');
  reference.alias = alias;
}

/** Filter and chips are checked against the fields that the caller sees. What is sent back as the caller was shown it stays, though there may be more to it. */
async function changeParts(
  ctx: Context,
  tx: Transaction,
  reference: DatasetReference,
  { filter, chips }: DatasetReferenceInput,
): Promise<void> {
  if (filter === undefined && chips === undefined) return;
  const dataset = await loadDataset(ctx, tx, reference.datasetId).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return null;
    throw error;
  });
  const shown = await shownParts(ctx, { ...reference, dataset });
  const changes = {
    filter: filter !== undefined && !isDeepStrictEqual(filter ?? {}, shown.filter),
    chips: chips !== undefined && !isDeepStrictEqual(plain(chips), shown.chips),
  };
  if (!changes.filter && !changes.chips) return;
  if (!dataset) throw notFound({ what: 'dataset', id: reference.datasetId });
  const fields = await visibleFields(ctx, dataset);
  if (changes.filter) reference.filter = checkedFilter(filter ?? {}, fields);
  if (changes.chips) reference.chips = checkedChips(chips ?? [], fields);
}

const plain = (chips: Chip[] | null): Chip[] => (chips ?? []).map(({ field, label }) => ({ field, label }));

/** Those of the ids that are snapshots of the dataset, as they are spelled there, in the order in which they are wanted. */
async function snapshotsAmong(tx: Transaction, datasetId: string, ids: readonly string[]): Promise<string[]> {
  const wanted = ids.filter(isUuid).map((id) => id.toLowerCase());
  if (wanted.length === 0) return [];
  const found = await tx.query<{ id: string }>({
    text: `select id from dws.dataset where parent_id = $1 and is_snapshot and id = any($2) order by id for key share`,
    values: [datasetId, wanted],
  });
  return [...new Set(wanted)].filter((id) => found.some((one) => one.id === id));
}

/** Replaces the snapshots that a reference shows. */
async function choose(tx: Transaction, { id, tenantId }: DatasetReference, ids: readonly string[]): Promise<void> {
  await tx.em.flush();
  await tx.query({
    text: `delete from dws.dataset_reference_snapshot where tenant_id = $1 and reference_id = $2`,
    values: [tenantId, id],
  });
  if (ids.length === 0) return;
  await tx.query({
    text: `insert into dws.dataset_reference_snapshot (tenant_id, reference_id, dataset_id, position) select $1, $2, dataset_id, position from unnest($3::uuid[]) with ordinality as s(dataset_id, position)`,
    values: [tenantId, id, ids],
  });
}
