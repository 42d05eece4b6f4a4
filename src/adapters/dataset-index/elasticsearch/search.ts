import type { estypes } from '@elastic/elasticsearch';
import type { IndexedField, Page, Row, RowSearch } from '../../../core/dataset-index.ts';
import { encodeCursor, invalidCursor, positionRow } from '../cursor.ts';
import type { SearchEngineReader } from './client.ts';
import { layoutOf, ROW } from './field-layout.ts';
import { matchingRows } from './search-query.ts';
import type { Matching } from './search-query.ts';
import { searchDocuments } from './search-requests.ts';
import type { SearchResponse } from './search-requests.ts';

/** Before and after every date. The engine's own substitute for missing ones is not a safe JSON number. */
const DATES = { before: -1e15, beyond: 1e15 };
/** The same for booleans, which are 0 and 1; OpenSearch reads them as 32-bit integers. */
const BOOLEANS = { before: -1, beyond: 2 };

/** Returns a page of rows in their JSON forms. */
export async function searchRows(engine: SearchEngineReader, search: RowSearch, signal: AbortSignal): Promise<Page> {
  const matching = matchingRows(search);
  const { limit, start, generation } = search;
  const rows = rowsAsked(matching, search);
  const row = positionRow(search);
  const after = row === undefined ? undefined : await sortValues(engine, matching, search, row, signal);
  const countable = search.total && !matching.everything;
  const response = await searchDocuments(
    engine,
    generation,
    {
      // The engine accepts no offset together with a position.
      ...rows.asked,
      size: limit + 1 + (after ? start : 0),
      ...(after ? { search_after: after } : { from: start }),
      track_total_hits: countable,
      filter_path: ['hits.total.value', ...rows.asked.filter_path],
    },
    signal,
  );
  const found = (response.hits?.hits ?? []).slice(after ? start : 0);
  const more = found.length > limit;
  if (more) found.pop();
  const page: Page = {
    rows: found.map(rows.row),
    next: more ? encodeCursor({ generation: generation.id, row: Number(found.at(-1)!._id) }) : null,
  };
  if (search.total) page.total = countable ? totalOf(response) : generation.records;
  return page;
}

/** Returns the number of matching documents. */
export const totalOf = (response: SearchResponse): number => (response.hits.total as estypes.SearchTotalHits).value;

type Hit = SearchResponse['hits']['hits'][number];

/** Returns the part of a request that selects rows, order and fields, and the function that turns a hit into a row. */
export function rowsAsked(
  matching: Matching,
  { generation, fields, sort }: Pick<RowSearch, 'generation' | 'fields' | 'sort'>,
) {
  const columns = fields.map((name) => [name, matching.field(name).column] as const);
  // Requesting the whole source is faster than naming all fields.
  const whole = new Set(fields).size === generation.fields.length;
  const asked = {
    query: matching.query,
    sort: sortBy(matching, sort),
    _source: columns.length > 0 && (whole || { includes: columns.map(([, column]) => column) }),
    // Without sort values, which are long for texts.
    filter_path: ['hits.hits._id', 'hits.hits._source'],
  };
  const row = ({ _source: source = {} }: Hit): Row =>
    Object.fromEntries(columns.map(([name, column]) => [name, source[column] ?? null]));
  return { asked, row };
}

/**
 * The score, which is equal for all rows. The engine looks for the next rows by the first key of an order, in the index
 * of a field that contains values of hidden rows. It takes ten times as long if many of them come first.
 */
const NO_SKIPPING: estypes.SortCombinations = { _score: { order: 'desc' } };

/** Returns the total order of a search: missing values last in both directions, ties by row number. */
const sortBy = (matching: Matching, sort: RowSearch['sort']): estypes.SortCombinations[] => [
  ...(matching.restricted && sort.length > 0 ? [NO_SKIPPING] : []),
  ...sort.map(({ field, descending }) => {
    const found = matching.field(field);
    return {
      [layoutOf(found).compared]: {
        order: descending ? ('desc' as const) : ('asc' as const),
        missing: missingLast(found, descending),
      },
    };
  }),
  { [ROW]: 'asc' as const },
];

function missingLast({ type }: IndexedField, descending: boolean): number | '_last' {
  if (type !== 'date' && type !== 'datetime' && type !== 'boolean') return '_last';
  const { before, beyond } = type === 'boolean' ? BOOLEANS : DATES;
  return descending ? before : beyond;
}

/**
 * Returns the sort values of the row that a cursor names, read with the caller's own conditions. Throws
 * `invalidCursor` when the row does not match them.
 */
async function sortValues(
  engine: SearchEngineReader,
  matching: Matching,
  { generation, sort }: RowSearch,
  row: number,
  signal: AbortSignal,
): Promise<estypes.SortResults> {
  const query = { bool: { filter: [matching.query, { term: { [ROW]: row } }] } };
  const response = await searchDocuments(
    engine,
    generation,
    {
      query,
      sort: sortBy(matching, sort),
      size: 1,
      _source: false,
      track_total_hits: false,
      filter_path: ['hits.hits.sort'],
    },
    signal,
  );
  const values = response.hits?.hits[0]?.sort;
  if (!values) throw invalidCursor();
  return values;
}
