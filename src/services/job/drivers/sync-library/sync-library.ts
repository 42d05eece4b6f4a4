import { JobAction } from '../../../../../entities/job-action.ts';
import type { LibrarySync } from '../../../../../entities/library-sync.ts';
import { Library } from '../../../../../entities/library.ts';
import { LIBRARY } from '../../../../../entities/owned-kinds.ts';
import type { SavedAction } from '../../../../core/job-drivers.ts';
import { sync } from '../../../library/start-sync.ts';
import { loadUsedResource } from '../../../resource/load-resource.ts';
import { waitForOperation } from '../../job-context.ts';
import { defineAction } from '../action-schema.ts';

/** `data` of the action. */
interface SyncData {
  libraryId: string;
  purge?: boolean;
}

export const syncLibraryAction = defineAction<SyncData>({
  id: 'sync-library',
  name: 'Sync library',
  description: 'Brings the files of a library up to date with its drive.',
  uses: 'library',
  properties: {
    libraryId: { type: 'string', minLength: 1, maxLength: 255, description: 'Library, by id, slug or natural id.' },
    purge: { type: 'boolean', description: 'Whether all files are deleted and read again. Default: false.' },
  },
  required: { libraryId: true },
  prepare,
  async run(run) {
    const { libraryId, purge } = run.data;
    const { result } = await waitForOperation(run, sync(run.ctx, libraryId, { purge }, false));
    const { addedFiles, updatedFiles, deletedFiles, errorCount } = result as unknown as LibrarySync;
    run.log(`Synced: ${addedFiles} added, ${updatedFiles} updated, ${deletedFiles} deleted, ${errorCount} failed`);
  },
  async preview({ ctx, data: { libraryId, purge } }) {
    const { name, fileCount, lastSyncAt } = await ctx.read.one(Library, libraryId, ['name', 'fileCount', 'lastSyncAt']);
    return { library: name, files: fileCount, lastSyncAt, purge: purge ?? false };
  },
});

/**
 * Returns the data with the id of the library. Settings that do not change are not checked: the caller may be unable to
 * read the library.
 */
async function prepare(data: SyncData, { ctx, tx, actionId }: SavedAction): Promise<SyncData> {
  const former = actionId ? await tx.findOne(JobAction, { id: actionId }) : null;
  const { libraryId, purge } = (former?.data ?? {}) as Partial<SyncData>;
  if (libraryId === data.libraryId && (purge ?? false) === (data.purge ?? false)) return { ...data };
  return { ...data, libraryId: (await loadUsedResource(ctx, tx, LIBRARY, data.libraryId, 'library:sync')).id };
}
