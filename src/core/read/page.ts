import type { ReadPage, ReadRow } from './reader.ts';
import type { ListPart } from './statement.ts';

/** Returns the part with one row more, which shows whether there is a next page. */
export const withOneMore = (part: ListPart): ListPart => ({ ...part, limit: part.limit + 1 });

/** Returns the page of a part. With `hasNext` the rows may contain one more. */
export function toPage<T>(rows: ReadRow<T>[], { limit, start }: ListPart, hasNext: boolean): ReadPage<T> {
  const items = rows.length > limit ? rows.slice(0, limit) : rows;
  const page: ReadPage<T> = { items, start, count: items.length };
  if (hasNext) page.hasNextPage = rows.length > limit;
  return page;
}
