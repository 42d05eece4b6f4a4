import type { RequestInfo } from './context.ts';
import { refused } from './errors.ts';

/** Throws 403 for a request from another origin with the session cookie, which browsers send automatically. */
export function checkOrigin(request: Pick<RequestInfo, 'crossSite'>): void {
  if (request.crossSite) throw refused('A request with a session cookie must come from the same origin');
}
