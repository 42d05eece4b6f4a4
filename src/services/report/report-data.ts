import { DatasetReference } from '../../../entities/dataset-reference.ts';
import type { BlockData, BlockError, BlockRows } from '../../../entities/report-data.ts';
import { Report } from '../../../entities/report.ts';
import { toApiError } from '../../core/api-error.ts';
import type { Context } from '../../core/context.ts';
import { isObject } from '../../core/criteria/value.ts';
import type { AggregateResult } from '../../core/dataset-index.ts';
import { badInput, notFound } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { logFailure } from '../../core/log-failure.ts';
import { viewOf, type ViewedDataset } from '../dataset/dataset-view.ts';
import { referenceCriteria } from '../dataset/reference-criteria.ts';
import { criteriaProblem, loadSavedFilter } from '../dataset/saved-filter-criteria.ts';
import { queryableBlock } from './block-visibility.ts';
import {
  loadReferenceSources,
  REFERENCE_COLUMNS,
  runLimited,
  type ReferenceSource,
  type ResolvedReference,
} from './dataset-reference-view.ts';
import { blockQueryOf } from './report-block.ts';
import { mergeGroups, mergeRows, type SourceResult } from './report-data-merge.ts';
import { blocksOf, type ReportBlock } from './report-definition.ts';
import { restrictedFields } from './report-visibility.ts';

const MAX_DATA_BLOCKS = 100;

type AliasedReference = ResolvedReference & Pick<DatasetReference, 'alias'>;
type CriteriaObject = Record<string, unknown>;

/**
 * Loads the data of a report's blocks, all or those in `blockIds`, with the caller's access to their datasets. A
 * failure of one block is an error of that block only. Throws NOT_FOUND for an unknown block.
 */
export async function reportData(
  ctx: Context,
  { id, definition }: Pick<Report, 'id' | 'definition'>,
  blockIds: string[] | null | undefined,
): Promise<BlockData[]> {
  const blocks = blocksOf(definition).filter((block) => !blockIds || blockIds.includes(block.id));
  const unknown = blockIds?.find((blockId) => !blocks.some((block) => block.id === blockId));
  if (unknown !== undefined) throw notFound({ what: 'block', id: unknown });
  const found = (await ctx.read.list(DatasetReference, [...REFERENCE_COLUMNS, 'alias'], {
    reportId: id,
  })) as unknown as AliasedReference[];
  const references = new Map(found.map((reference) => [reference.alias, reference]));
  const dataBlocks = blocks.filter((block) => headOf(id, block).dataset !== null);
  const withinLimit = new Set(dataBlocks.slice(0, MAX_DATA_BLOCKS));
  return Promise.all(
    blocks.map((block) => resolveBlock(ctx, references, headOf(id, block), block, withinLimit.has(block))),
  );
}

/** Returns the id of a block, and its type and dataset reference if they are texts. */
const headOf = (reportId: string, { id, type, dataset }: ReportBlock) => ({
  id: `${reportId}:${id}`,
  block: id,
  type: typeof type === 'string' ? type : null,
  dataset: typeof dataset === 'string' ? dataset : null,
});

async function resolveBlock(
  ctx: Context,
  references: ReadonlyMap<string, AliasedReference>,
  head: ReturnType<typeof headOf>,
  block: ReportBlock,
  isWithinLimit: boolean,
): Promise<BlockData> {
  const { dataset: alias } = head;
  if (alias === null) return { ...head, data: null, error: null };
  try {
    if (!isWithinLimit) throw invalid('blocks', `must name at most ${MAX_DATA_BLOCKS} blocks with data`);
    const reference = references.get(alias);
    if (!reference) throw notFound({ what: 'dataset reference', id: alias });
    return { ...head, data: await runLimited(ctx, () => loadBlockData(ctx, reference, block)), error: null };
  } catch (error) {
    return { ...head, data: null, error: toBlockError(ctx, error) };
  }
}

function toBlockError({ platform, request }: Context, error: unknown): BlockError {
  const apiError = toApiError(error);
  if (apiError) return { statusCode: apiError.status, code: apiError.code, message: apiError.message };
  const line = { err: error, requestId: request.id };
  logFailure(platform.log, line, 'Could not load the data of a report block', request.signal.aborted);
  return { statusCode: 500, code: 'INTERNAL', message: 'Something went wrong on our side' };
}

/** Runs a block's query on every dataset that the reference shows, one after the other, and merges the results. */
async function loadBlockData(
  ctx: Context,
  reference: AliasedReference,
  block: ReportBlock,
): Promise<BlockRows | AggregateResult> {
  const sources = await loadReferenceSources(ctx, reference);
  const fields = await restrictedFields(ctx, reference.dataset);
  const queried = fields ? queryableBlock(block, fields) : block;
  const query = await blockQueryOf(ctx, queried, reference.datasetId);
  const blockFilter = await blockFilterOf(ctx, reference, queried['filter']);
  const hasSnapshots = Boolean(reference.snapshots);
  if (query.kind === 'groups') {
    const results: SourceResult<AggregateResult>[] = [];
    for (const source of sources) {
      const filter = await combinedFilter(ctx, reference, source, blockFilter);
      results.push({ label: source.label, result: await query.run(source.dataset, filter) });
    }
    return mergeGroups(results, hasSnapshots);
  }
  const results: SourceResult<BlockRows>[] = [];
  let remaining = query.limit;
  for (const source of sources) {
    const filter = await combinedFilter(ctx, reference, source, blockFilter);
    const result = await query.run(source.dataset, filter, remaining);
    remaining -= result.rows.length;
    results.push({ label: source.label, result });
  }
  return mergeRows(results, hasSnapshots);
}

/** A reference by its report and alias, and a further filter. */
interface NamedReference {
  report: string | null | undefined;
  alias: string | null | undefined;
  filter: unknown;
}

/**
 * Returns the filter of a reference to a dataset, combined with another one. Throws NOT_FOUND for a reference that the
 * caller may not read, and for a reference to another dataset.
 */
export async function filterOfReference(
  ctx: Context,
  dataset: ViewedDataset,
  { report, alias, filter }: NamedReference,
): Promise<CriteriaObject> {
  if (report == null) throw invalid('report', 'is required with alias');
  if (alias == null) throw invalid('alias', 'is required with report');
  const { id: reportId } = await ctx.read.one(Report, report, ['id']);
  const key = { reportId, alias, datasetId: dataset.id };
  const found = await ctx.read.find(DatasetReference, key, [...REFERENCE_COLUMNS, 'alias']);
  if (!found) throw notFound({ what: 'dataset reference', id: alias });
  const reference = found as unknown as AliasedReference;
  return combinedFilter(ctx, reference, { dataset, label: null }, await blockFilterOf(ctx, reference, filter));
}

/**
 * Returns a block's own filter: its criteria, or the criteria of a saved filter of the dataset. Null without a filter.
 */
async function blockFilterOf(
  ctx: Context,
  { dataset }: AliasedReference,
  filter: unknown,
): Promise<CriteriaObject | null> {
  if (filter === undefined || filter === null || filter === '') return null;
  if (isObject(filter)) return filter;
  if (typeof filter !== 'string') throw invalid('filter', 'must be criteria or the id of a saved filter');
  return (await loadSavedFilter(ctx, await viewOf(ctx, dataset!), filter)).criteria;
}

/**
 * Combines the reference's filter, which always applies, with the block's own. The viewer may not be allowed to see the
 * reference's filter, so an error about it contains no names of hidden fields.
 */
async function combinedFilter(
  ctx: Context,
  { alias, filter }: AliasedReference,
  { dataset, label }: ReferenceSource,
  blockFilter: CriteriaObject | null,
): Promise<CriteriaObject> {
  const criteria = referenceCriteria(filter);
  const { fields, partial } = await viewOf(ctx, dataset);
  const problem = criteriaProblem(criteria, fields, partial);
  if (problem !== null) {
    const target = label === null ? 'its dataset' : `the snapshot ${label}`;
    throw badInput(`The filter of the dataset reference "${alias}" does not fit ${target}: ${problem}`);
  }
  return blockFilter ? { $and: [criteria, blockFilter] } : criteria;
}
