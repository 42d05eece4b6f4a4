import type { RunningApp } from '../../core/app-run.ts';
import type { Viewer } from '../../core/viewer.ts';
import { resourceKey } from '../../services/resource/load-resource.ts';

const ORIGIN = 'http://service.invalid';
/** A route of an app: the key of the app, and the path after `view`. */
const VIEW = /^\/api\/apps\/([^/]+)\/view(?:\/(.*))?$/s;
/** Segments that lead elsewhere where a proxy decodes the path. */
const LEADS_UP = /(?:^|[/\\])\.\.?(?:[/\\]|$)/;

/**
 * Returns the next path after the page of an app: `returnTo` if it is a route of that app, by any key of the
 * app, else the start page. An empty text without `returnTo`.
 */
export function appReturnPath(
  viewer: Pick<Viewer, 'tenant'>,
  app: Pick<RunningApp, 'id' | 'slug'>,
  returnTo: unknown,
): string {
  if (returnTo === undefined) return '';
  const url = typeof returnTo === 'string' ? URL.parse(returnTo, ORIGIN) : null;
  const [, key, rest = ''] = (url?.origin === ORIGIN && VIEW.exec(url.pathname)) || [];
  if (key === undefined) return '/';
  const named = resourceKey(viewer, decode(key) ?? '');
  const isOfApp = named.id === undefined ? named.slug === app.slug : named.id === app.id;
  return isOfApp && !LEADS_UP.test(decode(rest) ?? '..') ? url!.pathname + url!.search : '/';
}

/** Returns a part of a path without percent-encoding; undefined for malformed ones. */
function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
