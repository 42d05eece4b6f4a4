import { abortable } from '../../core/abortable.ts';
import { isDiskFull, writeFailure } from '../../core/disk-full.ts';
import { ApiError, tooLarge } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { SavedFile } from '../../core/files.ts';
import { tooLargeReason, type FileRow, type KnownFile } from './sync-plan.ts';
import type { SyncRun } from './sync-run.ts';
import type { FileOutcome } from './sync-store.ts';

/** Downloads of one sync at once. */
export const PLACES_OF_SYNC = 4;

/** Downloads of all syncs of this process. Libraries take turns. */
const GATE = FairGate.shared({
  places: 2 * PLACES_OF_SYNC,
  maxPerCaller: PLACES_OF_SYNC,
  maxWaiting: 1000,
  taskNoun: 'downloads of libraries',
});

/** A failure of the drive while contents arrive. Other failures of a save are our own. */
class BrokenDownload extends Error {}

/** Downloads the contents of a file. A failure of the file alone is an outcome. Throws other failures. */
export function download(
  run: SyncRun,
  { row, known }: { row: FileRow; known: KnownFile | null },
  bytesLeft: number,
): Promise<FileOutcome> {
  const { signal, library } = run.attempt;
  return GATE.run({ tenantId: run.tenantId, userId: library.id }, signal, async () => {
    const { maxFileBytes } = library.settings;
    const maxBytes = Math.min(maxFileBytes, bytesLeft);
    const { fileId } = row;
    try {
      if (maxBytes <= 0 || (row.size ?? 0) > maxBytes) throw tooLarge('The contents are too large');
      const saved = await save(run, row, maxBytes);
      const syncedAt = new Date().toISOString();
      const stored = { ...row, size: saved.size, syncedAt, storedFileId: saved.id };
      return { fileId, known, row: stored, saved };
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      if (failure.code !== 'PAYLOAD_TOO_LARGE') return failed(row, known, failure);
      if (maxBytes < maxFileBytes) throw quotaExceeded(run);
      return { fileId, known, row: { ...row, status: 'skipped', reason: tooLargeReason(maxFileBytes) } };
    }
  });
}

async function save({ attempt }: SyncRun, row: FileRow, maxBytes: number): Promise<SavedFile> {
  const { platform, opened, signal } = attempt;
  const item = { id: row.fileId, contentType: row.contentType };
  const { content } = await abortable(opened.drive.contents(opened.access, item, maxBytes), signal);
  return platform.files.save(receive(content, signal), maxBytes);
}

/** Yields contents until the signal aborts. Failures of the drive become `BrokenDownload`. */
async function* receive(content: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = content[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await abortable(iterator.next(), signal).catch((error: unknown) => {
        throw error instanceof ApiError ? error : new BrokenDownload('The download broke off', { cause: error });
      });
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited: an iterator that waits for the drive ends with the signal only.
    void iterator.return?.()?.catch(() => undefined);
  }
}

/** Returns why the contents of one file could not be read. Throws what concerns the whole sync. */
function failureOf(error: unknown): Required<FileOutcome>['error'] {
  if (error instanceof BrokenDownload) return { code: 'UPSTREAM_FAILED', message: error.message };
  if (isDiskFull(error)) throw writeFailure(error);
  // The connection has ended.
  if (!(error instanceof ApiError) || error.code === 'CONFLICT') throw error;
  return { code: error.code, message: error.message };
}

/** The outcome of a file whose contents could not be read. Former contents stay. */
function failed(row: FileRow, known: KnownFile | null, error: Required<FileOutcome>['error']): FileOutcome {
  const former = known ?? { hash: null, revision: null, size: row.size, syncedAt: null, storedFileId: null };
  const { hash, revision, size, syncedAt, storedFileId } = former;
  const contents = storedFileId === null ? { hash: null, revision: null, size: row.size } : { hash, revision, size };
  const { fileId } = row;
  return {
    fileId,
    known,
    row: { ...row, ...contents, syncedAt, storedFileId, status: 'failed', reason: error.message },
    error,
  };
}

/** The failure of a sync whose files exceed the quota of the tenant. */
export const quotaExceeded = ({ attempt }: SyncRun): ApiError =>
  tooLarge(`The files exceed the quota of ${attempt.platform.config.TENANT_QUOTA_BYTES} bytes`);
