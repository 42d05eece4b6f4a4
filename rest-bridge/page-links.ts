import type { LinkViewer } from './links.ts';

/** The parts of a request that presenters read. */
export interface PresentedRequest {
  url: string;
  params: Readonly<Record<string, string>>;
  variables: Readonly<Record<string, unknown>>;
  /** Length of the whole list, if the result is a part of the list but not a page. */
  total?: number | undefined;
  /** The caller, who decides which actions are linked. */
  viewer?: LinkViewer | null | undefined;
}

interface PagePosition {
  start: number;
  count: number;
  total: number;
  limit: number | undefined;
}
type PageLinks = Record<'self' | 'first' | 'prev' | 'next' | 'last' | 'up', { href: string } | undefined>;

/** Returns a URL without its query. */
export function pathOf(url: string): string {
  const question = url.indexOf('?');
  return question < 0 ? url : url.slice(0, question);
}

/** Returns a URL without parameters, by default `start` and `after`. */
function withoutParameters(url: string, names = /^(?:start|after)(?:=|$)/): string {
  const question = url.indexOf('?');
  if (question < 0) return url;
  const pairs = url
    .slice(question + 1)
    .split('&')
    .filter((pair) => !names.test(pair) && pair !== '');
  return pairs.length === 0 ? url.slice(0, question) : `${url.slice(0, question)}?${pairs.join('&')}`;
}

/** Returns the URL of all rows as JSON, for the URL of a page of rows. */
export function exportUrl(url: string): string {
  const base = withoutParameters(url, /^(?:start|after|limit)(?:=|$)/);
  const path = pathOf(base);
  const query = base.slice(path.length);
  return `${path.replace(/\/data$/, '/export')}${query === '' ? '?' : `${query}&`}format=json`;
}

/**
 * Returns the HAL links of a page: `self` (the URL as requested), `first`, `prev` and `next` where they exist, `last`,
 * and `up` (what the path is below). With a cursor, `next` has the parameter `after` and `last` is omitted. Without a
 * limit there is one page. See docs/contract/apis.md#lists.
 */
export function pageLinks(
  url: string,
  { start, count, total, limit }: PagePosition,
  cursor?: { after: string | null | undefined },
): PageLinks {
  const base = withoutParameters(url);
  const path = pathOf(url);
  const join = base.includes('?') ? '&' : '?';
  const at = (position: number) => ({ href: position === 0 ? base : `${base}${join}start=${position}` });
  const size = limit ?? Math.max(total, 1);
  const nextByStart = start + count < total && count > 0 ? at(start + count) : undefined;
  return {
    self: { href: url },
    first: at(0),
    prev: start > 0 ? at(Math.max(0, start - size)) : undefined,
    next:
      cursor === undefined
        ? nextByStart
        : typeof cursor.after === 'string'
          ? { href: `${base}${join}after=${encodeURIComponent(cursor.after)}` }
          : undefined,
    last: cursor === undefined ? at(Math.max(0, Math.floor((total - 1) / size) * size)) : undefined,
    up: { href: path.slice(0, path.lastIndexOf('/')) },
  };
}
