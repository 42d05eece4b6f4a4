import { LRUCache } from 'lru-cache';
import type { RunningApp } from '../../core/app-run.ts';
import type { Context, RequestInfo } from '../../core/context.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { loadPrincipalViewer } from '../identity/principal-viewer.ts';
import { createViewerContext } from '../resource/viewer-context.ts';

/** How long the permissions of owners are cached, as specified. Whether they can act is read for each call. */
const CACHE_MS = 5 * 60_000;
const MAX_CACHED = 10_000;

/** Owners of apps by their principal, in this process. */
const cacheOf = perPlatform(() => new LRUCache<string, Viewer>({ max: MAX_CACHED, ttl: CACHE_MS }));

/** Returns a context that acts as the owner of an app. Throws FORBIDDEN if the owner cannot act. */
export async function createWebhookContext(
  platform: Platform,
  { tenantId, ownerId }: RunningApp,
  info: RequestInfo,
): Promise<Context> {
  const cache = cacheOf(platform);
  const viewer = cache.get(ownerId) ?? (await loadPrincipalViewer(platform.system, tenantId, ownerId));
  cache.set(ownerId, viewer, { noUpdateTTL: true });
  return createViewerContext(platform, info, { ...viewer });
}
