import type { RunningApp } from '../../core/app-run.ts';
import { refused } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { loadPrincipalViewer } from '../identity/principal-viewer.ts';

/**
 * Returns the owner of an app, in whose name its handlers send messages. Throws FORBIDDEN if the owner is disabled or
 * deleted, or has not accepted the app.
 */
export async function loadOwner(
  { system }: Pick<Platform, 'system'>,
  { tenantId, ownerId, accepted }: Pick<RunningApp, 'tenantId' | 'ownerId' | 'accepted'>,
): Promise<Viewer> {
  if (!accepted) throw refused('The owner has not accepted the app yet');
  return loadPrincipalViewer(system, tenantId, ownerId);
}
