import { DriveRefusal } from '../../adapters/drives/drive-refusal.ts';
import { abortable } from '../../core/abortable.ts';
import { isDiskFull, writeFailure } from '../../core/disk-full.ts';
import { FileUnreadable } from '../../core/drive.ts';
import { ApiError, tooLarge } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { SavedFile } from '../../core/files.ts';
import type { FileRow, KnownFile } from './sync-plan.ts';
import type { SyncRun } from './sync-run.ts';
import type { FileOutcome } from './sync-store.ts';

/** Concurrent downloads of one sync. */
export const PLACES_OF_SYNC = 4;

/**
 * Downloads of all syncs of this process. Tenants and libraries take turns. A tenant has at most half of the places, and
 * a library half of the places of its tenant. A user syncs one library at a time.
 */
const GATE = FairGate.shared({
  places: 4 * PLACES_OF_SYNC,
  maxPerCaller: PLACES_OF_SYNC,
  maxPerTenant: 2 * PLACES_OF_SYNC,
  maxWaiting: 1000,
  taskNoun: 'downloads of libraries',
});

/** A file to download. */
export interface Download {
  row: FileRow;
  known: KnownFile | null;
  /** Id under which the contents are saved. */
  downloadId: string;
  /** Ids under which earlier attempts may have saved them. */
  formerIds: readonly string[];
}

/** A failure of the drive. Other failures of a download are the service's own. */
class DriveFailure extends Error {}

/** Downloads the contents of a file. A failure of the file alone is an outcome. Throws other failures. */
export function download(run: SyncRun, file: Download, bytesLeft: number): Promise<FileOutcome> {
  const { signal, library } = run.attempt;
  return GATE.run({ tenantId: run.tenantId, userId: library.id }, signal, async () => {
    const { row, known } = file;
    const { fileId } = row;
    if (bytesLeft <= 0 || (row.size ?? 0) > bytesLeft) throw quotaExceeded(run);
    try {
      const saved = (await findSaved(run, file)) ?? (await save(run, file, bytesLeft));
      const syncedAt = new Date().toISOString();
      const stored = { ...row, size: saved.size, syncedAt, storedFileId: saved.id };
      return { fileId, known, row: stored, saved };
    } catch (error) {
      signal.throwIfAborted();
      const skipped = (reason: string): FileOutcome => ({ fileId, known, row: { ...row, status: 'skipped', reason } });
      if (error instanceof DriveFailure && error.cause instanceof FileUnreadable) return skipped(error.cause.message);
      const failure = failureOf(error);
      return failure.code === 'PAYLOAD_TOO_LARGE' ? skipped(failure.message) : failed(row, known, failure);
    }
  });
}

/** Returns the contents that an earlier attempt has saved; undefined without them. */
async function findSaved({ attempt }: SyncRun, { formerIds }: Download): Promise<SavedFile | undefined> {
  for (const id of formerIds) {
    const saved = await attempt.platform.files.saveAgain(id);
    if (saved) return saved;
  }
  return undefined;
}

/** Saves the contents of a file. Throws PAYLOAD_TOO_LARGE past the quota, and `DriveFailure`. */
async function save(run: SyncRun, { row, downloadId }: Download, bytesLeft: number): Promise<SavedFile> {
  const { platform, opened, signal, library } = run.attempt;
  const item = { id: row.fileId, contentType: row.contentType };
  const opening = opened.drive.contents(opened.access, item, library.settings.maxFileBytes);
  const content = await abortable(opening, signal).catch(blameDrive);
  return platform.files.save(withinQuota(run, receive(content, signal), bytesLeft), 0, downloadId);
}

/** Yields contents until the signal aborts. */
async function* receive(content: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = content[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await abortable(iterator.next(), signal).catch(blameDrive);
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited: an iterator that waits for the drive ends with the signal only.
    void iterator.return?.()?.catch(() => undefined);
  }
}

/** Yields contents while the quota allows them. */
async function* withinQuota(
  run: SyncRun,
  content: AsyncIterable<Uint8Array>,
  bytesLeft: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.byteLength;
    if (size > bytesLeft) throw quotaExceeded(run);
    yield chunk;
  }
}

function blameDrive(error: unknown): never {
  throw new DriveFailure('The download broke off', { cause: error });
}

/** Returns why the contents of one file could not be read. Throws failures that concern the whole sync. */
function failureOf(error: unknown): Required<FileOutcome>['error'] {
  if (!(error instanceof DriveFailure)) throw isDiskFull(error) ? writeFailure(error) : error;
  const { cause, message } = error;
  if (!(cause instanceof ApiError)) return { code: 'UPSTREAM_FAILED', message };
  // The connection has ended.
  if (cause.code === 'CONFLICT') throw cause;
  // The renewed token was refused, too.
  if (cause instanceof DriveRefusal && cause.httpStatus === 401) throw cause;
  return { code: cause.code, message: cause.message };
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
