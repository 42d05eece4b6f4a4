import { missingScopes, type AppLimit } from '../../core/app-access.ts';
import { OriginQuestion } from '../../core/app-question.ts';
import type { AppRequest, AppResponse, AppRole, EndedRun, SendResponse } from '../../core/app-run.ts';
import {
  authorityOf,
  beforeReceiving,
  confinementOf,
  ConsentRequired,
  intersect,
  keepingIssue,
  type Authority,
} from '../../core/authority.ts';
import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import { levelAllows, type Level } from '../../core/permissions.ts';
import { actingPrincipal, type Viewer } from '../../core/viewer.ts';
import { loadLimit } from './app-grant.ts';
import { matchRoute, maxBodyOf, noRouteFor, viewPathOf } from './app-route-match.ts';
import { recordRun } from './app-run-record.ts';
import { findViewedApp, handlerUserOf } from './find-running-app.ts';
import { failureOf } from './handler-failure.ts';
import { bodyOwnerOf } from './handler-places.ts';
import { currentAuthority } from './handler-rights.ts';
import { runRoute, withoutDetails } from './handler-route.ts';

/** A request for a route below `view`. Its body is received when the route is known. */
export interface ViewCall {
  request: AppRequest;
  /** `owner` names what the body shares memory with. */
  receive: (maxBytes: number, owner: string) => Promise<Uint8Array>;
  /** Sends a response before the run has ended. */
  send: SendResponse;
}

/**
 * Runs the handler of a route below `view` as the caller, up to its end. Throws NOT_FOUND alike for an unknown app, an
 * app that the caller may not read, an app that is not deployed, and an unknown route. Throws UNAUTHENTICATED for a
 * session without proof of origin, and CONSENT_REQUIRED without a required scope.
 */
export async function callView(
  ctx: Context,
  id: string,
  { request: sent, receive, send }: ViewCall,
): Promise<AppResponse> {
  const { platform, viewer } = ctx;
  if (!['get', 'head'].includes(sent.method) && !viewer.scopes.has('write'))
    throw refused('This token lacks the scope write');
  const found = await findViewedApp(ctx, id);
  if (!found) throw noRouteFor(sent);
  const { app, routes, level, ownerName, access, displayName } = found;
  const request = { ...sent, path: viewPathOf(routes, sent.path) };
  const { route, params } = matchRoute(routes, request);
  if (ctx.request.crossSite) throw new OriginQuestion({ ...app, ownerName });
  const limit = await loadLimit(ctx, app, access);
  const missing = limit ? missingScopes(limit, access.required) : [];
  if (limit && missing.length > 0) throw new ConsentRequired(limit, missing);
  const authority = viewAuthority(ctx, request.method, limit);
  const body = await receive(maxBodyOf(route), bodyOwnerOf({ app, authority, ctx }));
  const run = { app, route: route.path, requestId: ctx.request.id, payerId: viewer.userId };
  const isOutermost = !ctx.request.authority;
  if (isOutermost) beforeReceiving(authority, async () => void (await recordRun(platform, { ...run, ...MARK })));
  const confined = async (response: AppResponse): Promise<AppResponse> => ({
    ...response,
    confinement: confinementOf(await currentAuthority({ ctx, authority })),
  });
  const { result, logs, durationMs, memoryBytes } = await runRoute(platform, {
    app,
    route,
    params,
    request: { ...request, body },
    ctx,
    authority,
    user: handlerUserOf(actingPrincipal(viewer), { username: viewer.username, displayName }),
    roles: rolesAt(level, viewer),
    depth: ctx.request.appDepth ?? 0,
    send: async (response) => send(await confined(response)),
  });
  const lasting = await currentAuthority({ ctx, authority });
  const isKept = !keepingIssue(lasting);
  await recordRun(platform, {
    ...(isKept || isOutermost ? run : withoutChoice(run, lasting)),
    durationMs,
    memoryBytes,
    logs: isKept ? logs : [],
    error: isKept ? (failureOf(result)?.message ?? null) : null,
  });
  if ('response' in result) return { ...result.response, confinement: confinementOf(lasting) };
  throw levelAllows(level, 'app:write') ? result.failure : withoutDetails(result.failure);
}

/** Returns the authority of a call: its caller's authority, limited to the authority of the handler that sends it. */
function viewAuthority({ request: { authority }, viewer }: Context, method: string, limit: AppLimit | null): Authority {
  const own = { ...authorityOf(viewer, method), limits: limit ? [limit] : [] };
  // The limits of a calling app have also narrowed the scopes of the viewer, which they do not for other services.
  return authority ? intersect({ ...own, scopes: authority.scopes }, authority) : own;
}

/**
 * The record of a run that reads data the app may not keep, written before it reads. Line, time and order of the mark
 * are the same whatever is read, and nothing else is logged. Runs that such a run causes leave no mark, because which
 * ones run can depend on the data.
 */
const MARK: Pick<EndedRun, 'logs' | 'error' | 'durationMs' | 'memoryBytes'> = {
  logs: [
    {
      level: 'info',
      text: 'Not kept: the run reads with the rights of its caller, who has not granted the scope keep',
    },
  ],
  error: null,
  durationMs: 0,
  memoryBytes: 0,
};

/**
 * Returns a run as time of the app that the user called, if a calling app may have chosen its app and route by data it
 * has read.
 */
const withoutChoice = <R extends Pick<EndedRun, 'app' | 'route'>>(run: R, { limits }: Authority): R => ({
  ...run,
  app: { ...run.app, id: limits.at(-1)!.appId },
  route: null,
});

function rolesAt(level: Level, { superuser }: Viewer): AppRole[] {
  const roles: AppRole[] = ['viewer'];
  if (levelAllows(level, 'app:write')) roles.push('editor');
  if (levelAllows(level, 'app:changeOwner')) roles.push('admin');
  if (superuser) roles.push('superuser');
  return roles;
}
