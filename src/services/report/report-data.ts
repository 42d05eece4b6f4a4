import { DatasetReference } from '../../../entities/dataset-reference.ts';
import type { Report } from '../../../entities/report.ts';
import { toApiError } from '../../core/api-error.ts';
import type { Context } from '../../core/context.ts';
import { isObject } from '../../core/criteria/value.ts';
import type { AggregateResult } from '../../core/dataset-index.ts';
import { badInput, notFound } from '../../core/errors.ts';
import { distinctNames, type Field } from '../../core/fields.ts';
import { invalid } from '../../core/input-checks.ts';
import { viewOf } from '../dataset/dataset-view.ts';
import { criteriaProblem, loadSavedFilter } from '../dataset/saved-filter-criteria.ts';
import { criteriaOf } from './dataset-reference-checks.ts';
import { inTurn, RESOLVED, sourcesOf, type ResolvedReference, type Source } from './dataset-reference-view.ts';
import { questionOf, type BlockRows } from './report-block.ts';
import { blocksOf, type Block } from './report-definition.ts';

/** Why a block has no data. */
export interface BlockError {
  statusCode: number;
  code: string;
  message: string;
}

/** What a block of a report shows. */
export interface BlockData {
  id: string;
  type: string | null;
  /** The alias of its dataset; null for what has none, such as text. */
  dataset: string | null;
  data: BlockRows | AggregateResult | null;
  error: BlockError | null;
}

const MAX_BLOCKS = 100;
/** Groups of all moments together. */
const MAX_GROUPS = 10_000;
const SNAPSHOT = '_snapshot';

type Reference = ResolvedReference & Pick<DatasetReference, 'alias'>;
type Criteria = Record<string, unknown>;

/** What the blocks of a report show, all or those wanted, as the viewer sees their datasets; what goes wrong with one is its own. 404 for a block that there is not. */
export async function reportData(
  ctx: Context,
  { id, definition }: Pick<Report, 'id' | 'definition'>,
  wanted: string[] | null | undefined,
): Promise<BlockData[]> {
  const blocks = blocksOf(definition).filter((block) => !wanted || wanted.includes(block.id));
  const unknown = wanted?.find((one) => !blocks.some((block) => block.id === one));
  if (unknown !== undefined) throw notFound({ what: 'block', id: unknown });
  const found = (await ctx.read.list(DatasetReference, [...RESOLVED, 'alias'], {
    reportId: id,
  })) as unknown as Reference[];
  const references = new Map(found.map((reference) => [reference.alias, reference]));
  const answered = new Set(blocks.filter((block) => headOf(block).dataset !== null).slice(0, MAX_BLOCKS));
  return Promise.all(blocks.map((block) => resolved(ctx, references, block, answered.has(block))));
}

const headOf = ({ id, type, dataset }: Block) => ({
  id,
  type: typeof type === 'string' ? type : null,
  dataset: typeof dataset === 'string' ? dataset : null,
});

async function resolved(
  ctx: Context,
  references: ReadonlyMap<string, Reference>,
  block: Block,
  isAnswered: boolean,
): Promise<BlockData> {
  const head = headOf(block);
  const { dataset: alias } = head;
  if (alias === null) return { ...head, data: null, error: null };
  try {
    if (!isAnswered) throw invalid('blocks', `with data are more than ${MAX_BLOCKS}: name those that are wanted`);
    const reference = references.get(alias);
    if (!reference) throw notFound({ what: 'dataset reference', id: alias });
    return { ...head, data: await inTurn(ctx, () => dataOf(ctx, reference, block)), error: null };
  } catch (error) {
    return { ...head, data: null, error: errorOf(ctx, error) };
  }
}

function errorOf({ platform, request }: Context, error: unknown): BlockError {
  const fault = toApiError(error);
  if (fault) return { statusCode: fault.status, code: fault.code, message: fault.message };
  if (!request.signal.aborted) platform.log.error({ err: error, requestId: request.id }, 'A block of a report failed');
  return { statusCode: 500, code: 'INTERNAL', message: 'Something went wrong on our side' };
}

async function dataOf(ctx: Context, reference: Reference, block: Block): Promise<BlockRows | AggregateResult> {
  const sources = await sourcesOf(ctx, reference);
  const question = await questionOf(ctx, block, reference.datasetId);
  const own = await ownFilter(ctx, reference, block['filter']);
  const marked = Boolean(reference.snapshots);
  if (question.kind === 'groups') {
    const parts: Part<AggregateResult>[] = [];
    for (const source of sources)
      parts.push({
        label: source.label,
        answer: await question.ask(source.dataset, await filterOn(ctx, reference, source, own)),
      });
    return groupsTogether(parts, marked);
  }
  const parts: Part<BlockRows>[] = [];
  let left = question.limit;
  for (const source of sources) {
    const answer = await question.ask(source.dataset, await filterOn(ctx, reference, source, own), left);
    left -= answer.rows.length;
    parts.push({ label: source.label, answer });
  }
  return rowsTogether(parts, marked);
}

/** A block's own filter: criteria, or a saved filter of the dataset. */
async function ownFilter(ctx: Context, { dataset }: Reference, filter: unknown): Promise<Criteria | null> {
  if (filter === undefined || filter === null || filter === '') return null;
  if (isObject(filter)) return filter;
  if (typeof filter !== 'string') throw invalid('filter', 'must be criteria or the id of a saved filter');
  return (await loadSavedFilter(ctx, await viewOf(ctx, dataset!), filter)).criteria;
}

/** The reference's filter, which always applies, with the block's own. Of the reference's the viewer may see nothing, so that what does not fit is told without names. */
async function filterOn(
  ctx: Context,
  { alias, filter }: Reference,
  { dataset, label }: Source,
  own: Criteria | null,
): Promise<Criteria> {
  const criteria = criteriaOf(filter);
  const { fields, partial } = await viewOf(ctx, dataset);
  const problem = criteriaProblem(criteria, fields, partial);
  if (problem !== null)
    throw badInput(
      `The filter of the dataset reference "${alias}" does not fit ${label === null ? 'its dataset' : `the snapshot ${label}`}: ${problem}`,
    );
  return own ? { $and: [criteria, own] } : criteria;
}

/** An answer about one moment. */
interface Part<T> {
  label: string | null;
  answer: T;
}

/** The rows of all moments, one moment after the other; where there may be several, `_snapshot` says of which: null for the current rows. */
function rowsTogether(parts: readonly Part<BlockRows>[], marked: boolean): BlockRows {
  const fields = byName(parts.flatMap(({ answer }) => answer.fields));
  const total = parts.reduce((sum, { answer }) => sum + answer.total, 0);
  if (!marked) return { fields, rows: parts.flatMap(({ answer }) => answer.rows), total };
  const mark = markOf(fields);
  const rows = parts.flatMap(({ label, answer }) =>
    answer.rows.map((row) =>
      Object.fromEntries([[mark.name, label], ...fields.map(({ name }) => [name, row[name] ?? null])]),
    ),
  );
  return { fields: [mark, ...fields], rows, total };
}

/** The same for groups: each moment has groups of its own. */
function groupsTogether(parts: readonly Part<AggregateResult>[], marked: boolean): AggregateResult {
  const columns = byName(parts.flatMap(({ answer }) => answer.columns));
  const mark = marked ? [markOf(columns)] : [];
  const rows = parts.flatMap(({ label, answer }) => {
    const places = columns.map(({ name }) => answer.columns.findIndex((column) => column.name === name));
    return answer.rows.map((row) => [...(marked ? [label] : []), ...places.map((place) => row[place] ?? null)]);
  });
  const truncated = rows.length > MAX_GROUPS || parts.some(({ answer }) => answer.truncated);
  return {
    columns: [...mark, ...columns],
    rows: rows.slice(0, MAX_GROUPS),
    total: parts.reduce((sum, { answer }) => sum + answer.total, 0),
    truncated,
  };
}

/** Moments may have had other fields: each name once, as the first has it. */
function byName<T extends { name: string }>(columns: readonly T[]): T[] {
  const seen = new Set<string>();
  return columns.filter(({ name }) => !seen.has(name) && seen.add(name));
}

const markOf = (columns: readonly { name: string }[]): Field => ({
  name: distinctNames([...columns.map(({ name }) => name), SNAPSHOT]).at(-1)!,
  label: 'Snapshot',
  type: 'string',
});
