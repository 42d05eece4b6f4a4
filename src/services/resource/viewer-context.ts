import DataLoader from 'dataloader';
import { RowReader } from '../../adapters/database/row-reader.ts';
import type { Context, PublicContext, RequestInfo } from '../../core/context.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { NEVER_ABORTED } from '../../core/with-timeout.ts';
import { loadSharedLevels } from './access-level.ts';
import { modelFor } from './define-model.ts';
import { loadRestrictions } from './restriction.ts';
import { runUnitOfWork } from './run-unit-of-work.ts';

/**
 * The concurrent statements by which callers read, fewer than the pool has connections: one that reads much, as a
 * search does, leaves connections for other callers.
 */
const READ_GATE = FairGate.shared({ places: 8, maxWaiting: 1000, taskNoun: 'reads' });
/** Longest wait for a place, in milliseconds: as long as the wait for a connection. */
const MAX_WAIT_MS = 10_000;

/** Creates the context of a request. Without a viewer it lacks the members that access a tenant. */
export function createRequestContext(
  platform: Platform,
  request: RequestInfo,
  viewer: Viewer | null,
  ifMatch?: readonly number[],
): PublicContext {
  if (!viewer) return { platform, request, viewer, ifMatch };
  return createViewerContext(platform, request, viewer, ifMatch);
}

/** Creates the context of a request with a viewer. */
export function createViewerContext(
  platform: Platform,
  request: RequestInfo,
  viewer: Viewer,
  ifMatch?: readonly number[],
): Context {
  const query: Context['query'] = (statement) => {
    // Statements after the caller has left clean up, and must run.
    const signal = request.signal.aborted ? NEVER_ABORTED : request.signal;
    return READ_GATE.run(viewer, signal, () => platform.database.query(viewer.tenantId, statement), MAX_WAIT_MS);
  };
  return {
    platform,
    request,
    viewer,
    ifMatch,
    query,
    sharedLevel: createBatchLoader((ids) => loadSharedLevels(query, viewer, ids)),
    restriction: createBatchLoader((ids) => loadRestrictions(query, viewer, ids)),
    read: new RowReader(query, viewer, modelFor),
    transaction: (work) => runUnitOfWork({ platform, viewer, request }, work),
  };
}

/**
 * Returns a function that batches the reads of one tick. Creates the loader on first use, since most requests need
 * none. Results are not cached: a mutation may have changed what an earlier read returned.
 */
function createBatchLoader<T>(read: (ids: readonly string[]) => Promise<T[]>): (id: string) => Promise<T> {
  let loader: DataLoader<string, T> | undefined;
  return (id) => (loader ??= new DataLoader(read, { cache: false })).load(id);
}
