import { missingScopes, type AppLimit } from '../../core/app-access.ts';
import { OriginQuestion } from '../../core/app-question.ts';
import type { AppRequest, AppResponse, AppRole, HandlerOutcome, HandlerUser } from '../../core/app-run.ts';
import {
  authorityOf,
  confinementOf,
  ConsentRequired,
  intersect,
  keepingIssue,
  type Authority,
} from '../../core/authority.ts';
import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import { levelAllows, type Level } from '../../core/permissions.ts';
import { actingUserId, type Viewer } from '../../core/viewer.ts';
import { loadLimit } from './app-grant.ts';
import { matchRoute, maxBodyOf, noRouteFor } from './app-route-match.ts';
import { recordRun } from './app-run-record.ts';
import { findViewedApp } from './find-running-app.ts';
import { currentAuthority } from './handler-rights.ts';
import { runRoute, withoutDetails } from './handler-route.ts';

/** A request for a route below `view`. Its body is received when the route is known. */
export interface ViewCall {
  request: AppRequest;
  receive: (maxBytes: number, appId: string) => Promise<Uint8Array>;
}

/**
 * Runs the handler of a route below `view` as the caller. Throws NOT_FOUND alike for an unknown app, one that the caller
 * may not read, one that is not deployed, and an unknown route, UNAUTHENTICATED for a session without proof of origin,
 * and CONSENT_REQUIRED without a required scope.
 */
export async function callView(ctx: Context, id: string, { request, receive }: ViewCall): Promise<AppResponse> {
  const { platform, viewer } = ctx;
  if (request.method !== 'get' && !viewer.scopes.has('write')) throw refused('This token lacks the scope write');
  const found = await findViewedApp(ctx, id);
  if (!found) throw noRouteFor(request);
  const { app, routes, level, ownerName, access } = found;
  const { route, params } = matchRoute(routes, request);
  if (ctx.request.crossSite) throw new OriginQuestion({ ...app, ownerName });
  const limit = await loadLimit(ctx, app, access);
  const missing = limit ? missingScopes(limit, access.required) : [];
  if (limit && missing.length > 0) throw new ConsentRequired(limit, missing);
  const authority = viewAuthority(ctx, request.method, limit);
  const body = await receive(maxBodyOf(route), app.id);
  const { result, logs, durationMs, memoryBytes } = await runRoute(platform, {
    app,
    route,
    params,
    request: { ...request, body },
    ctx,
    authority,
    user: userOf(viewer),
    roles: rolesAt(level, viewer),
    depth: ctx.request.appDepth ?? 0,
  });
  const lasting = await currentAuthority({ ctx, authority });
  await recordRun(platform, {
    app,
    route: route.path,
    requestId: ctx.request.id,
    payerId: viewer.userId,
    durationMs,
    memoryBytes,
    ...keptOf(lasting, logs, 'failure' in result ? result.failure.message : null),
  });
  if ('response' in result) return { ...result.response, confinement: confinementOf(lasting) };
  throw levelAllows(level, 'app:write') ? result.failure : withoutDetails(result.failure);
}

/** Returns the authority of a call: that of its caller, and no more than the handler has that sends it. */
function viewAuthority({ request: { authority }, viewer }: Context, method: string, limit: AppLimit | null): Authority {
  const own = { ...authorityOf(viewer, method), limits: limit ? [limit] : [] };
  // The limits of a calling app have also narrowed the scopes of the viewer, which they do not for other services.
  return authority ? intersect({ ...own, scopes: authority.scopes }, authority) : own;
}

/** Stands for lines and messages that are not kept. */
const NOT_KEPT = 'Not kept: the run has read with the rights of its caller, who has not granted the scope keep';

/** Returns what is recorded of a run: only that there was something, if it has read what the app may not keep. */
function keptOf(
  authority: Authority,
  logs: HandlerOutcome['logs'],
  error: string | null,
): Pick<HandlerOutcome, 'logs'> & { error: string | null } {
  if (!keepingIssue(authority)) return { logs, error };
  return { logs: logs.length > 0 ? [{ ...logs[0]!, text: NOT_KEPT }] : [], error: error === null ? null : NOT_KEPT };
}

/** Returns the user of a request as handlers get it. A team is the caller when a webhook of its app calls a view route. */
const userOf = (viewer: Viewer): HandlerUser => ({
  id: viewer.userId,
  name: viewer.username,
  type: actingUserId(viewer) === null ? 'team' : 'user',
});

function rolesAt(level: Level, { superuser }: Viewer): AppRole[] {
  const roles: AppRole[] = ['viewer'];
  if (levelAllows(level, 'app:write')) roles.push('editor');
  if (levelAllows(level, 'app:changeOwner')) roles.push('admin');
  if (superuser) roles.push('superuser');
  return roles;
}
