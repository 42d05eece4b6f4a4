import type { Platform } from '../../core/platform.ts';
import type { OpenedDrive, SyncedLibrary } from './sync-run.ts';

/** Opens the drive of a library by its connection. Throws CONFLICT without one. */
export async function openDrive(
  _platform: Platform,
  _library: SyncedLibrary,
  _signal: AbortSignal,
): Promise<OpenedDrive> {
  throw new Error('The connections of libraries are not merged yet');
}
