import { unavailable } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { loadBytesUsed } from '../resource/quota.ts';
import { deleteStoredBytes, deleteUnreferenced } from '../resource/stored-file.ts';
import { download, PLACES_OF_SYNC, quotaExceeded, type Download } from './sync-download.ts';
import { planFile, type StagedFile } from './sync-plan.ts';
import type { SyncRun } from './sync-run.ts';
import { isoSql } from './sync-stage.ts';
import { replacedContents, storeDownloadIds, storeOutcomes, type FileOutcome } from './sync-store.ts';

/** The phase as the `message` of the operation. */
const FILES = 'Reading files';

/** Number of reported files that one query reads. */
const BATCH = 500;

/** Number of files in a row that a drive fails to send before the sync fails. */
const MAX_FAILURES_IN_A_ROW = 20;

/** Number of stored bytes after which the quota is read again. */
const MAX_UNREAD_BYTES = 100_000_000;

/** Updates the files that were reported. */
export async function applyFiles(run: SyncRun): Promise<void> {
  await new FileWork(run).run();
}

/** The work on the reported files: its downloads run side by side, its writes one after the other. */
class FileWork {
  readonly #run: SyncRun;
  #done = 0;
  /** The first reading of the quota, before the first download. */
  #readingQuota: Promise<void> | null = null;
  /** The rest of the quota when it was last read. Negative past it. */
  #bytesLeft = Infinity;
  /** Bytes that were stored since the quota was last read. */
  #unread = 0;
  /** The bytes of downloads that are not stored yet. */
  #reserved = 0;
  #failures = 0;
  #outcomes: FileOutcome[] = [];
  #flushing: Promise<void> | null = null;

  constructor(run: SyncRun) {
    this.#run = run;
  }

  async run(): Promise<void> {
    const [tenantId, scopeId] = this.#run.keys;
    const [counted] = await this.#run.query<{ total: number; done: number }>({
      text: `select count(*)::int as total, (count(*) filter (where is_done))::int as done
        from dws.library_sync_change
        where tenant_id = $1 and scope_id = $2`,
      values: [tenantId, scopeId],
    });
    this.#done = counted!.done;
    this.#run.attempt.progress({ message: FILES, current: this.#done, total: counted!.total });
    const downloads = this.#downloads();
    const work = async () => {
      for (let next = await downloads.next(); !next.done; next = await downloads.next())
        await this.#download(next.value);
    };
    try {
      await inParallel(PLACES_OF_SYNC, work, this.#run.attempt.abort);
    } finally {
      // Contents that arrived while others could not be stored.
      await this.#discard(this.#outcomes);
    }
  }

  /** Yields the files to download. Stores the others, a batch at a time. */
  async *#downloads(): AsyncGenerator<Download> {
    let last = '';
    for (;;) {
      const batch = await loadBatch(this.#run, last);
      if (batch.length === 0) return;
      last = batch.at(-1)!.fileId;
      const outcomes: FileOutcome[] = [];
      const downloads: Download[] = [];
      for (const { fileId, known, plan, downloadIds } of batch.map((file) => planned(this.#run, file))) {
        if (plan.action !== 'download')
          outcomes.push({
            fileId,
            known,
            ...(plan.action === 'store' && { row: plan.row }),
            ...(plan.action === 'ignore' && { isGone: true }),
          });
        else if (this.#run.isDry) outcomes.push({ fileId, known, row: { ...plan.row, storedFileId: 'new' } });
        else downloads.push({ row: plan.row, known, downloadId: newId(), formerIds: downloadIds });
      }
      if (outcomes.length > 0) await this.#store(outcomes);
      if (downloads.length === 0) continue;
      await this.#run.write(async (tx) => {
        storeDownloadIds(tx, this.#run, downloads);
        return {};
      }, false);
      yield* downloads;
    }
  }

  async #loadQuota(): Promise<void> {
    const { platform } = this.#run.attempt;
    const { TENANT_QUOTA_BYTES: quota } = platform.config;
    this.#unread = 0;
    if (quota > 0) this.#bytesLeft = quota - (await loadBytesUsed(this.#run, this.#run.tenantId));
  }

  /** Downloads one file and waits until it is stored. */
  async #download(file: Download): Promise<void> {
    await (this.#readingQuota ??= this.#loadQuota());
    const freed = freedBy(file);
    const expected = (file.row.size ?? 0) - freed;
    const bytesLeft = this.#bytesLeft - this.#reserved + freed;
    this.#reserved += expected;
    const outcome = await download(this.#run, file, bytesLeft);
    this.#reserved += addedBytes(outcome) - expected;
    if (this.#reserved > this.#bytesLeft) {
      await this.#discard([outcome]);
      throw quotaExceeded(this.#run);
    }
    this.#checkFailures(outcome);
    this.#outcomes.push(outcome);
    await this.#storeDownloads();
  }

  /** Waits until all downloads that have ended are stored. Downloads that end during a write are stored together. */
  async #storeDownloads(): Promise<void> {
    await this.#flushing;
    const outcomes = this.#outcomes;
    // Another download may have begun to store them.
    if (this.#flushing || outcomes.length === 0) return void (await this.#flushing);
    this.#outcomes = [];
    this.#flushing = this.#flush(outcomes).finally(() => {
      this.#flushing = null;
    });
    await this.#flushing;
    await deleteStoredBytes(this.#run.attempt, replacedContents(outcomes));
  }

  /** Throws UNAVAILABLE if the drive was not available too often in a row. */
  #checkFailures({ error }: FileOutcome): void {
    this.#failures = error?.code === 'UNAVAILABLE' ? this.#failures + 1 : 0;
    if (!error || this.#failures < MAX_FAILURES_IN_A_ROW) return;
    throw unavailable(`The drive fails to send files: ${error.message}`);
  }

  async #flush(outcomes: readonly FileOutcome[]): Promise<void> {
    try {
      await this.#store(outcomes);
      const stored = outcomes.reduce((sum, outcome) => sum + addedBytes(outcome), 0);
      this.#reserved -= stored;
      this.#bytesLeft -= stored;
      this.#unread += outcomes.reduce((sum, { saved }) => sum + (saved?.size ?? 0), 0);
      // Others may use the quota, too.
      const { TENANT_QUOTA_BYTES: quota } = this.#run.attempt.platform.config;
      if (this.#unread >= Math.min(MAX_UNREAD_BYTES, quota / 100)) await this.#loadQuota();
    } catch (error) {
      await this.#discard(outcomes);
      throw error;
    }
  }

  async #store(outcomes: readonly FileOutcome[]): Promise<void> {
    await this.#run.write(async (tx) => ({ counts: storeOutcomes(tx, this.#run, outcomes) }));
    this.#done += outcomes.length;
    this.#run.attempt.progress({ current: this.#done });
  }

  /** Deletes the bytes of contents that could not be stored. */
  async #discard(outcomes: readonly FileOutcome[]): Promise<void> {
    const ids = outcomes.flatMap(({ saved }) => saved?.id ?? []);
    await deleteUnreferenced({ platform: this.#run.attempt.platform, query: this.#run.query }, ids);
  }
}

/** Returns the size of the contents that a download replaces. */
const freedBy = ({ known }: Pick<Download, 'known'>): number => (known?.storedFileId ? (known.size ?? 0) : 0);

/** Returns how many bytes more a library has when an outcome is stored. */
const addedBytes = (outcome: FileOutcome): number => (outcome.saved ? outcome.saved.size - freedBy(outcome) : 0);

/** Returns a reported file with its plan. A dry run that purges knows no files. */
function planned(run: SyncRun, file: StagedFile) {
  const { input, library } = run.attempt;
  const known = run.isDry && input.purge ? null : file.known;
  const { fileId, downloadIds } = file;
  return { fileId, known, downloadIds, plan: planFile({ ...file, known }, library.settings) };
}

/**
 * Returns the next reported files that are not done, after one by its id. They are found first, and the others are
 * looked up by `lateral … limit 1`, each by its key. A plain join would read all the remaining rows for each batch.
 */
function loadBatch({ query, keys, state }: SyncRun, last: string): Promise<StagedFile[]> {
  return query<StagedFile>({
    text: `select c.file_id as "fileId", c.item, c.download_ids as "downloadIds",
      case
        when c.item is null then null
        when c.item->>'path' is not null then c.item->>'path'
        when c.item->>'parentId' = $4 then c.item->>'name'
        else d.path || (c.item->>'name')
      end as path,
      case when f.id is not null then jsonb_build_object('name', f.name, 'path', f.path, 'pathKey', f.path_key,
        'contentType', f.content_type, 'size', f.size, 'hash', f.hash, 'revision', f.revision, 'parentId', f.parent_id, 'status', f.status,
        'reason', f.reason, 'url', f.url, 'modifiedAt', ${isoSql('f.modified_at')}, 'syncedAt', ${isoSql('f.synced_at')},
        'storedFileId', f.stored_file_id) end as known
    from (
      select file_id, item, download_ids from dws.library_sync_change
      where tenant_id = $1 and scope_id = $2 and not is_done and file_id > $5
      order by file_id
      limit ${BATCH}
    ) c
    left join lateral (
      select path from dws.library_sync_folder where scope_id = $2 and folder_id = c.item->>'parentId' limit 1
    ) d on true
    left join lateral (
      select * from dws.library_file where library_id = $3 and file_id = c.file_id limit 1
    ) f on true
    order by c.file_id`,
    values: [...keys, state.rootId, last],
  });
}

/**
 * Runs a task several times concurrently. The earliest failure aborts the others, and is thrown once all have ended.
 */
async function inParallel(times: number, task: () => Promise<void>, abort: (reason: unknown) => void): Promise<void> {
  const failures: unknown[] = [];
  const tasks = Array.from({ length: times }, () =>
    task().catch((error: unknown) => {
      failures.push(error);
      abort(error);
    }),
  );
  await Promise.all(tasks);
  if (failures.length > 0) throw failures[0];
}
