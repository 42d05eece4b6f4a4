import type { Context } from '../../core/context.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import { ALL, type CriteriaNode } from '../../core/criteria/tree.ts';
import type { FieldProfile, Generation, Row, RowSearch, Search } from '../../core/dataset-index.ts';
import { badInput } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { isUuid } from '../../core/id.ts';
import { at, invalid } from '../../core/input-checks.ts';
import { parseSearchWords } from '../../core/search-words.ts';
import { unknownName } from '../../core/unknown-name.ts';
import { auditRows } from '../resource/audit-read.ts';
import { parseSortTerms } from './dataset-sort.ts';
import { viewOf, type DatasetView, type ViewedDataset } from './dataset-view.ts';
import { queryIndex } from './index-query.ts';
import { loadSavedFilter } from './saved-filter-criteria.ts';

/** Maximum of `start` plus `limit`. Rows past it are read with `after`. */
const MAX_OFFSET = 10_000;
const DEFAULT_LIMIT = 100;
/** Maximum number of fields in a profile: each requires a pass over the rows. */
const MAX_PROFILED_FIELDS = 200;

/** Selects rows, their order and their fields. */
export interface RowQuery {
  /** Criteria as an object or as JSON text that begins with `{`; any other text is the id of a saved filter. */
  filter?: unknown;
  /** Whether the criteria were stored earlier. They then do not fit if they use a field that the source no longer has. */
  isStored?: boolean;
  q?: string | null;
  /** Names of fields, separated by commas; a leading `-` sorts descending. */
  sort?: string | null;
  fields?: string[] | null;
}

interface PageQuery extends RowQuery {
  limit?: number | null;
  start?: number | null;
  /** Cursor: the `next` of an earlier page. */
  after?: string | null;
}

/** A page of a dataset's rows. */
export interface RowPage {
  items: Row[];
  /** The fields of the items, in their order. */
  fields: Field[];
  start: number;
  count: number;
  next: string | null;
  /** Returns the number of all matching rows. */
  countAll(): Promise<number>;
}

/**
 * Returns a page of the rows that the viewer sees. Throws 400 for a query that does not fit the fields or the limits,
 * GONE for a cursor into rows that no longer exist.
 */
export async function search(ctx: Context, dataset: ViewedDataset, query: PageQuery): Promise<RowPage> {
  const { limit, start } = checkPage(query);
  const cursor = query.after ? readCursor(ctx, query.after) : null;
  const view = await viewOf(ctx, dataset, cursor?.generationId);
  const { fields, ...rows } = await parseRowQuery(ctx, view, query);
  const empty = { items: [], fields, start, count: 0, next: null, countAll: async () => 0 };
  const { caller: _, ...rowQuery } = rows;
  const state = { ...rowQuery, fields, generation: view.generation?.id, limit, start, after: cursor?.after };
  if (isUnchanged(ctx, state) || !view.generation) return empty;

  const rowSearch = { ...rows, generation: view.generation, fields: fields.map(({ name }) => name) };
  const page = await queryIndex(ctx, (index, signal) =>
    index.search({ ...rowSearch, limit, start, ...(cursor && { after: cursor.after }), total: false }, signal),
  );
  await auditRows(ctx, { action: 'datasetRows', datasetId: dataset.id, query, rows: page.rows.length });
  return {
    items: page.rows,
    fields,
    start,
    count: page.rows.length,
    next: page.next && writeCursor(ctx, view.generation, page.next),
    countAll: () => countMatching(ctx, rowSearch),
  };
}

/**
 * Returns the number of rows that the viewer sees and the filter selects, by default of all visible ones. Throws 400
 * for a filter that does not fit the visible fields.
 */
export async function countRows(
  ctx: Context,
  dataset: ViewedDataset,
  query: Pick<RowQuery, 'filter' | 'isStored'> = {},
): Promise<number> {
  const view = await viewOf(ctx, dataset);
  const rows = await parseRowFilter(ctx, view, query);
  const { generation, fields } = view;
  return generation ? countMatching(ctx, { ...rows, generation, fields: fields.map(({ name }) => name) }) : 0;
}

/** Returns the number of rows that a search finds. */
export async function countMatching(ctx: Context, search: Search & Pick<RowSearch, 'fields'>): Promise<number> {
  const count = { ...search, limit: 1, start: 0, sort: [], total: true };
  return (await queryIndex(ctx, (index, signal) => index.search(count, signal))).total!;
}

/**
 * Returns whether the client has these rows. `state` contains everything that decides which rows and fields this viewer
 * gets. The digest is the viewer's own, so that equal digests do not reveal what others see.
 */
const isUnchanged = ({ platform, viewer, revalidate }: Context, state: object): boolean =>
  revalidate !== undefined && revalidate(platform.secrets.digest(JSON.stringify([viewer.userId, state])));

/** Returns statistics of the named fields, by default of all visible ones, over the matching rows. */
export async function discover(
  ctx: Context,
  dataset: ViewedDataset,
  { fields, filter }: Pick<RowQuery, 'fields' | 'filter'>,
): Promise<{ total: number; fields: FieldProfile[] }> {
  const view = await viewOf(ctx, dataset);
  const names = selectFields(view, fields).map(({ name }) => name);
  if (names.length > MAX_PROFILED_FIELDS) throw invalid('fields', `must name at most ${MAX_PROFILED_FIELDS} fields`);
  const rows = await parseRowFilter(ctx, view, { filter });
  const { generation } = view;
  if (!generation) return { total: 0, fields: [] };
  const profile = await queryIndex(ctx, (index, signal) => index.profile({ ...rows, generation }, names, signal));
  await auditRows(ctx, { action: 'datasetProfile', datasetId: dataset.id, query: { fields, filter } });
  return profile;
}

/** Returns the part of a search that selects rows. Throws 400 where it does not fit what the viewer sees. */
export const parseRowFilter = async (
  ctx: Context,
  view: DatasetView,
  { filter, isStored, q }: Pick<RowQuery, 'filter' | 'isStored' | 'q'>,
): Promise<Omit<Search, 'generation'>> => ({
  caller: ctx.viewer,
  visible: view.where,
  where: await parseFilter(ctx, view, filter, isStored),
  words: q ? parseSearchWords(q) : [],
  wordFields: view.fields.filter(({ type }) => type === 'string' || type === 'text').map(({ name }) => name),
});

/** Returns the rows, order and fields of a search. Throws 400 where they do not fit what the viewer sees. */
export const parseRowQuery = async (
  ctx: Context,
  view: DatasetView,
  query: RowQuery,
): Promise<Omit<Search, 'generation'> & { fields: Field[]; sort: RowSearch['sort'] }> => ({
  ...(await parseRowFilter(ctx, view, query)),
  ...parseColumns(view, query),
});

/** Returns the fields and the order of a query. Throws 400 where they do not fit the fields of the view. */
export const parseColumns = (
  view: Pick<DatasetView, 'fields'>,
  { fields, sort }: Pick<RowQuery, 'fields' | 'sort'>,
): { fields: Field[]; sort: RowSearch['sort'] } => ({
  fields: selectFields(view, fields),
  sort: parseSort(view, sort),
});

async function parseFilter(ctx: Context, view: DatasetView, filter: unknown, isStored = false): Promise<CriteriaNode> {
  if (filter === undefined || filter === null || filter === '') return ALL;
  const saved = typeof filter === 'string' && !filter.trimStart().startsWith('{');
  // Before the first refresh a dataset has no fields, so every condition names an unknown field.
  if (saved) return (await loadSavedFilter(ctx, view, filter)).node;
  const fields = isStored ? view.fields.filter(({ vanished }) => !vanished) : view.fields;
  return at(['filter'], () => parseCriteria(typeof filter === 'string' ? parseJson(filter) : filter, fields));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badInput('filter is not well-formed JSON');
  }
}

function selectFields(view: Pick<DatasetView, 'fields'>, names: readonly string[] | null | undefined): Field[] {
  if (!names?.length) return view.fields;
  return [...new Set(names)].map((name) => at(['fields', names.indexOf(name)], () => visibleField(view, name)));
}

/** Returns a field by its name. Throws 400 for an unknown field; a hidden one is unknown too. */
export function visibleField(view: Pick<DatasetView, 'fields'>, name: string): Field {
  const field = view.fields.find((candidate) => candidate.name === name);
  if (field) return field;
  throw unknownName(
    'field',
    name,
    view.fields.map((known) => known.name),
  );
}

function parseSort(view: Pick<DatasetView, 'fields'>, sort: string | null | undefined): RowSearch['sort'] {
  const terms = parseSortTerms(
    sort,
    view.fields.map(({ name }) => name),
  );
  return terms.map((term) => {
    const { name, type } = at(['sort'], () => visibleField(view, term.name));
    if (type === 'json') throw invalid('sort', `names ${JSON.stringify(name)}, which is of type json and has no order`);
    return { field: name, descending: term.descending };
  });
}

function checkPage({ after, ...page }: PageQuery): { limit: number; start: number } {
  const limit = page.limit ?? DEFAULT_LIMIT;
  const start = page.start ?? 0;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_OFFSET)
    throw invalid('limit', `must be a whole number from 1 to ${MAX_OFFSET}`);
  if (!Number.isInteger(start) || start < 0) throw invalid('start', 'must be a whole number from 0');
  if (after && start > 0) throw invalid('start', 'cannot be used together with after');
  if (start + limit > MAX_OFFSET)
    throw invalid('start', `plus limit must not exceed ${MAX_OFFSET}; use after to read further rows`);
  return { limit, start };
}

/** Length of every cursor. The length of the index's cursor would reveal the number of hidden rows before it. */
const CURSOR_LENGTH = 120;

/**
 * Returns the encrypted cursor of a page: the id of its generation, so that the next page continues in the same rows,
 * and the index's cursor.
 */
const writeCursor = ({ platform }: Context, { id }: Generation, after: string): string =>
  platform.secrets.seal(`${id}.${after}`.padEnd(CURSOR_LENGTH));

function readCursor({ platform }: Context, cursor: string): { generationId: string; after: string } {
  try {
    const [generationId = '', after = ''] = platform.secrets.open(cursor, 'the cursor').trimEnd().split('.');
    if (isUuid(generationId)) return { generationId, after };
  } catch {
    // A text that this service did not encrypt gets the error below, like any other invalid cursor.
  }
  throw invalid('after', 'is not a valid cursor');
}
