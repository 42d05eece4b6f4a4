import type { Context } from '../../core/context.ts';
import { and } from '../../core/criteria/build.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import type { CriteriaNode } from '../../core/criteria/tree.ts';
import type { FieldProfile, Generation, Row, RowSearch, Search } from '../../core/dataset-index.ts';
import { badInput } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { parseSearchWords } from '../../core/search-words.ts';
import { viewOf, type DatasetView, type ViewedDataset } from './dataset-view.ts';
import { savedFilterOf } from './saved-filter-criteria.ts';

/** Rows past this are reached by `after`. */
const MAX_OFFSET = 10_000;
const DEFAULT_LIMIT = 100;
/** Each field of a profile is a pass over the rows. */
const MAX_PROFILES = 200;

/** Which rows, in which order, with which fields. */
export interface RowQuery {
  /** Criteria as an object or as JSON text beginning with `{`; any other text is the id of a saved filter. */
  filter?: unknown;
  q?: string | null;
  /** Fields, separated by commas; `-` before one descends. */
  sort?: string | null;
  fields?: string[] | null;
}

export interface PageQuery extends RowQuery {
  limit?: number | null;
  start?: number | null;
  /** An earlier page's `next`. */
  after?: string | null;
}

/** A part of a dataset's rows. */
export interface RowPage {
  items: Row[];
  /** The fields of the items, in their order. */
  fields: Field[];
  start: number;
  count: number;
  next: string | null;
  /** Counts all matching rows. */
  countAll(): Promise<number>;
}

/** A part of the rows that the viewer sees. 400 for what does not fit the fields or the limits, 410 for a cursor into rows that are gone. */
export async function search(ctx: Context, dataset: ViewedDataset, query: PageQuery): Promise<RowPage> {
  const { limit, start } = pageOf(query);
  const cursor = query.after ? readCursor(ctx, query.after) : null;
  const view = await viewOf(ctx, dataset, cursor?.generationId);
  const { fields, ...rows } = await rowsOf(ctx, view, query);
  if (!view.generation) return { items: [], fields, start, count: 0, next: null, countAll: async () => 0 };

  const wanted = { ...rows, generation: view.generation, fields: fields.map(({ name }) => name) };
  const page = await ctx.platform.index.search(
    { ...wanted, limit, start, ...(cursor && { after: cursor.after }), total: false },
    ctx.request.signal,
  );
  return {
    items: page.rows,
    fields,
    start,
    count: page.rows.length,
    next: page.next && writeCursor(ctx, view.generation, page.next),
    countAll: async () =>
      (await ctx.platform.index.search({ ...wanted, limit: 1, start: 0, sort: [], total: true }, ctx.request.signal))
        .total!,
  };
}

/** Statistics of fields over the matching rows; of all visible fields unless some are named. */
export async function discover(
  ctx: Context,
  dataset: ViewedDataset,
  { fields, filter }: Pick<RowQuery, 'fields' | 'filter'>,
): Promise<{ total: number; fields: FieldProfile[] }> {
  const view = await viewOf(ctx, dataset);
  const names = chosenFields(view, fields).map(({ name }) => name);
  if (names.length > MAX_PROFILES) throw invalid('fields', `must name at most ${MAX_PROFILES} fields`);
  const where = await whereOf(ctx, view, filter);
  if (!view.generation) return { total: 0, fields: [] };
  return ctx.platform.index.profile(
    { generation: view.generation, where, words: [], wordFields: [] },
    names,
    ctx.request.signal,
  );
}

/** The part of a search that says which rows, checked against what the viewer sees. */
export const matching = async (
  ctx: Context,
  view: DatasetView,
  { filter, q }: Pick<RowQuery, 'filter' | 'q'>,
): Promise<Omit<Search, 'generation'>> => ({
  where: await whereOf(ctx, view, filter),
  words: q ? parseSearchWords(q) : [],
  ...(view.partial && { partial: true }),
  wordFields: view.fields.filter(({ type }) => type === 'string' || type === 'text').map(({ name }) => name),
});

/** The same with order and fields. */
export const rowsOf = async (
  ctx: Context,
  view: DatasetView,
  query: RowQuery,
): Promise<Omit<Search, 'generation'> & { fields: Field[]; sort: RowSearch['sort'] }> => ({
  ...(await matching(ctx, view, query)),
  ...columnsOf(view, query),
});

/** Which fields of rows in which order, checked against the fields that exist. */
export const columnsOf = (
  view: Pick<DatasetView, 'fields'>,
  { fields, sort }: Pick<RowQuery, 'fields' | 'sort'>,
): { fields: Field[]; sort: RowSearch['sort'] } => ({ fields: chosenFields(view, fields), sort: sortOf(view, sort) });

async function whereOf(ctx: Context, view: DatasetView, filter: unknown): Promise<CriteriaNode> {
  if (filter === undefined || filter === null || filter === '') return view.where;
  const saved = typeof filter === 'string' && !filter.trimStart().startsWith('{');
  const criteria = saved
    ? (await savedFilterOf(ctx, view, filter)).node
    : parseCriteria(typeof filter === 'string' ? parsedJson(filter) : filter, view.fields);
  // Before the first refresh no field exists, so that any condition names an unknown one.
  return and([view.where, criteria]);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('filter', 'is not well-formed JSON');
  }
}

function chosenFields(view: Pick<DatasetView, 'fields'>, names: readonly string[] | null | undefined): Field[] {
  if (!names?.length) return view.fields;
  return [...new Set(names)].map((name) => visibleField(view, name));
}

/** A field by its name; one that is hidden from the viewer does not exist. */
export function visibleField(view: Pick<DatasetView, 'fields'>, name: string): Field {
  const field = view.fields.find((candidate) => candidate.name === name);
  if (!field) throw badInput(`Unknown field ${JSON.stringify(name.slice(0, 100))}`);
  return field;
}

function sortOf(view: Pick<DatasetView, 'fields'>, sort: string | null | undefined): RowSearch['sort'] {
  const words =
    sort
      ?.split(',')
      .map((word) => word.trim())
      .filter(Boolean) ?? [];
  return words.map((word) => {
    // A field may be called `-x` itself.
    const descending = word.startsWith('-') && !view.fields.some(({ name }) => name === word);
    const { name, type } = visibleField(view, descending ? word.slice(1) : word);
    if (type === 'json') throw invalid('sort', `names ${JSON.stringify(name)}, which is of type json and has no order`);
    return { field: name, descending };
  });
}

function pageOf({ limit: askedLimit, start: askedStart, after }: PageQuery): { limit: number; start: number } {
  const limit = askedLimit ?? DEFAULT_LIMIT;
  const start = askedStart ?? 0;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_OFFSET)
    throw invalid('limit', `must be a whole number from 1 to ${MAX_OFFSET}`);
  if (!Number.isInteger(start) || start < 0) throw invalid('start', 'must be a whole number from 0');
  if (after && start > 0) throw invalid('start', 'cannot be used together with after');
  if (start + limit > MAX_OFFSET)
    throw invalid('start', `plus limit must not pass ${MAX_OFFSET}; use after to read on`);
  return { limit, start };
}

/** Cursors are of one length, since the index's own tells how far in all rows, hidden ones included, a page ended. */
const CURSOR_LENGTH = 120;

/** A cursor names its generation, so that a page goes on in the rows it began in. What follows is the index's own. It is sealed: neither is for clients to read. */
const writeCursor = ({ platform }: Context, { id }: Generation, after: string): string =>
  platform.secrets.seal(`${id}.${after}`.padEnd(CURSOR_LENGTH));

function readCursor({ platform }: Context, cursor: string): { generationId: string; after: string } {
  try {
    const [generationId = '', after = ''] = platform.secrets.open(cursor).trimEnd().split('.');
    if (isUuid(generationId)) return { generationId, after };
  } catch {
    // What we did not seal is told like any other text that is no cursor.
  }
  throw invalid('after', 'is not a cursor of ours');
}
