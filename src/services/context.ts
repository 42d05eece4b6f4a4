import { createReader } from '../adapters/database/read.ts';
import type { Context, PublicContext, RequestFacts } from '../core/context.ts';
import { unauthenticated } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import type { Viewer } from '../core/viewer.ts';
import { modelFor } from './models.ts';

/** The context of a request. Without a viewer its tenant-bound parts refuse with 401; the guard lets only public fields meet that. */
export function contextFor(platform: Platform, request: RequestFacts, viewer: Viewer | null, ifMatch?: readonly number[]): PublicContext {
  if (!viewer) return { platform, request, viewer, ifMatch };
  return viewerContext(platform, request, viewer, ifMatch);
}

/** The context of a known viewer. */
export function viewerContext(platform: Platform, request: RequestFacts, viewer: Viewer, ifMatch?: readonly number[]): Context {
  const query: Context['query'] = (statement) => platform.database.query(viewer.tenantId, statement);
  return {
    platform, request, viewer, ifMatch, query,
    read: createReader(query, viewer, modelFor),
    transaction: (work) => platform.database.transaction(viewer.tenantId, work),
  };
}

/** The same context, known to have a viewer. */
export function authenticated(ctx: PublicContext): Context {
  if (!ctx.viewer) throw unauthenticated();
  return ctx as Context;
}
