import type { AppRequest, AppResponse, AppRole, HandlerUser } from '../../core/app-run.ts';
import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import { levelAllows, type Level } from '../../core/permissions.ts';
import { actingUserId, type Viewer } from '../../core/viewer.ts';
import { matchRoute, maxBodyOf, noRouteFor } from './app-route-match.ts';
import { recordRun } from './app-run-record.ts';
import { findViewedApp } from './find-running-app.ts';
import { runRoute, withoutDetails } from './handler-route.ts';

/** A request for a route below `view`. Its body is received when the route is known. */
export interface ViewCall {
  request: AppRequest;
  receive: (maxBytes: number, appId: string) => Promise<Uint8Array>;
}

/**
 * Runs the handler of a route below `view` as the caller. Throws NOT_FOUND alike for an unknown app, one that the caller
 * may not read, one that is not deployed, and an unknown route.
 */
export async function callView(ctx: Context, id: string, { request, receive }: ViewCall): Promise<AppResponse> {
  const { platform, viewer } = ctx;
  if (request.method !== 'get' && !viewer.scopes.has('write')) throw refused('This token lacks the scope write');
  const found = await findViewedApp(ctx, id);
  if (!found) throw noRouteFor(request);
  const { app, routes, level } = found;
  const { route, params } = matchRoute(routes, request);
  const body = await receive(maxBodyOf(route), app.id);
  const { result, logs, durationMs, memoryBytes } = await runRoute(platform, {
    app,
    route,
    params,
    request: { ...request, body },
    ctx,
    user: userOf(viewer),
    roles: rolesAt(level, viewer),
    depth: ctx.request.appDepth ?? 0,
  });
  await recordRun(platform, {
    app,
    route: route.path,
    requestId: ctx.request.id,
    payerId: viewer.userId,
    durationMs,
    memoryBytes,
    logs,
    error: 'failure' in result ? result.failure.message : null,
  });
  if ('response' in result) return result.response;
  throw levelAllows(level, 'app:write') ? result.failure : withoutDetails(result.failure);
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
