import type { AppRequest, Entrance, HandlerRoute } from '../../core/app-run.ts';
import { methodNotAllowed, noRoute } from '../../core/errors.ts';

const DEFAULT_MAX_BODY_BYTES = 1_000_000;

type Head = Pick<AppRequest, 'method' | 'path'>;

/** A route with the parameters in the path of a request. */
export interface RouteMatch {
  route: HandlerRoute;
  params: Record<string, string>;
}

/** Decodes what `AppRequest.path` encodes within a segment. */
const decode = (segment: string): string => segment.replaceAll('%2F', '/').replaceAll('%25', '%');

const segmentsOf = (path: string): string[] => path.split('/').slice(1).map(decode);

/** Returns the parameters of a route in the segments of a path; null if it does not match. */
function paramsOf(route: HandlerRoute, segments: readonly string[]): Record<string, string> | null {
  const parts = route.path.split('/').slice(1);
  if (parts.length !== segments.length) return null;
  const params: [string, string][] = [];
  for (const [i, part] of parts.entries()) {
    const segment = segments[i]!;
    if (!part.startsWith(':') ? part !== segment : segment === '') return null;
    if (part.startsWith(':')) params.push([part.slice(1), segment]);
  }
  return Object.fromEntries(params);
}

/** Returns the error for a request without a route. It does not reveal whether the app exists. */
export const noRouteFor = ({ method, path }: Head) => noRoute({ method: method.toUpperCase(), path });

/**
 * Returns the first route in the order of a release that has the method of a request and matches its path. Throws
 * NOT_FOUND, or METHOD_NOT_ALLOWED with `Allow` if routes with other methods match.
 */
export function matchRoute(routes: readonly HandlerRoute[], { method, path }: Head): RouteMatch {
  const segments = segmentsOf(path);
  const others = new Set<string>();
  for (const route of routes) {
    const params = paramsOf(route, segments);
    if (params && route.method === method) return { route, params };
    if (params) others.add(route.method.toUpperCase());
  }
  if (others.size === 0) throw noRouteFor({ method, path });
  const allow = [...others, 'OPTIONS'].join(', ');
  throw methodNotAllowed({ method: method.toUpperCase(), path }, { headers: { allow } });
}

/** Beginning of a path below `view` that may precede the path of a route. */
const SERVER_PREFIX = /^\/api\/_server(?=\/|$)/;

/**
 * Returns the path of a request below `view`. `/api/_server` is left out if the app has no such path but has the rest
 * as a path.
 */
export function viewPathOf(routes: readonly HandlerRoute[], path: string): string {
  const rest = path.replace(SERVER_PREFIX, '') || '/';
  const isPath = (one: string) => routes.some((route) => paramsOf(route, segmentsOf(one)));
  return rest !== path && !isPath(path) && isPath(rest) ? rest : path;
}

/** Returns how a call comes to a webhook that has the hook token or not: a signature is proof, too, as soon as it is checked. */
export const entranceOf = ({ config }: HandlerRoute, hasToken: boolean): Entrance =>
  hasToken || config['verify'] ? 'proven' : 'open';

/** Returns how many bytes the body of a request to a route may have. */
export const maxBodyOf = ({ config }: HandlerRoute): number =>
  typeof config['maxBody'] === 'number' ? config['maxBody'] : DEFAULT_MAX_BODY_BYTES;
