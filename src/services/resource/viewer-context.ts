import DataLoader from 'dataloader';
import { createReader } from '../../adapters/database/read.ts';
import type { Context, PublicContext, RequestFacts } from '../../core/context.ts';
import { unauthenticated } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { loadRestrictions } from '../dataset/dataset-restriction.ts';
import { loadSharedLevels } from './access-level.ts';
import { modelFor } from './model-registry.ts';
import { runUnitOfWork } from './unit-of-work.ts';

/** The context of a request. Without a viewer its tenant-bound parts refuse with 401; the guard lets only public fields meet that. */
export function contextFor(
  platform: Platform,
  request: RequestFacts,
  viewer: Viewer | null,
  ifMatch?: readonly number[],
): PublicContext {
  if (!viewer) return { platform, request, viewer, ifMatch };
  return viewerContext(platform, request, viewer, ifMatch);
}

/** The context of a known viewer. */
export function viewerContext(
  platform: Platform,
  request: RequestFacts,
  viewer: Viewer,
  ifMatch?: readonly number[],
): Context {
  const query: Context['query'] = (statement) => platform.database.query(viewer.tenantId, statement);
  return {
    platform,
    request,
    viewer,
    ifMatch,
    query,
    sharedLevel: batched((ids) => loadSharedLevels(query, viewer, ids)),
    restriction: batched((ids) => loadRestrictions(query, viewer, ids)),
    read: createReader(query, viewer, modelFor),
    transaction: (work) => runUnitOfWork({ platform, viewer, request }, work),
  };
}

/** The same context, known to have a viewer. */
export function authenticated(ctx: PublicContext): Context {
  if (!ctx.viewer) throw unauthenticated();
  return ctx as Context;
}

/** Made when the first row is not the viewer's own, which most requests never meet. Nothing is kept: a mutation may have changed what an earlier read saw. */
function batched<T>(read: (ids: readonly string[]) => Promise<T[]>): (id: string) => Promise<T> {
  let loader: DataLoader<string, T> | undefined;
  return (id) => (loader ??= new DataLoader(read, { cache: false })).load(id);
}
