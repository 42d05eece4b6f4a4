/** What a presenter may know of the request. */
export interface PresentedRequest {
  url: string;
  params: Readonly<Record<string, string>>;
  variables: Readonly<Record<string, unknown>>;
}

interface PagePosition {
  start: number;
  count: number;
  total: number;
  limit: number | undefined;
}
type PageLinks = Record<'self' | 'first' | 'prev' | 'next' | 'last', { href: string } | undefined>;

/** The request's address without the parameters that choose the page. */
function withoutPage(url: string): string {
  const question = url.indexOf('?');
  if (question < 0) return url;
  const kept = url
    .slice(question + 1)
    .split('&')
    .filter((pair) => !/^(?:start|after)(?:=|$)/.test(pair) && pair !== '');
  return kept.length === 0 ? url.slice(0, question) : `${url.slice(0, question)}?${kept.join('&')}`;
}

/**
 * HAL links of one page (contract 4): `self` as asked, `first`, `prev` and `next` where there is one, `last`.
 * With a cursor, `next` goes by `after` and `last` is unknown. Without a limit there is one page.
 */
export function pageLinks(
  url: string,
  { start, count, total, limit }: PagePosition,
  cursor?: { after: string | null | undefined },
): PageLinks {
  const base = withoutPage(url);
  const join = base.includes('?') ? '&' : '?';
  const at = (position: number) => ({ href: position === 0 ? base : `${base}${join}start=${position}` });
  const size = limit ?? Math.max(total, 1);
  const onward = start + count < total && count > 0 ? at(start + count) : undefined;
  return {
    self: { href: url },
    first: at(0),
    prev: start > 0 ? at(Math.max(0, start - size)) : undefined,
    next:
      cursor === undefined
        ? onward
        : typeof cursor.after === 'string'
          ? { href: `${base}${join}after=${encodeURIComponent(cursor.after)}` }
          : undefined,
    last: cursor === undefined ? at(Math.max(0, Math.floor((total - 1) / size) * size)) : undefined,
  };
}
