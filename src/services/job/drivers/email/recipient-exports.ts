import type { MailedRows } from '../../../../../entities/mail.ts';
import type { Context } from '../../../../core/context.ts';
import { ApiError, conflict, tooLarge } from '../../../../core/errors.ts';
import type { SavedFile } from '../../../../core/files.ts';
import type { ActionRun } from '../../../../core/job-drivers.ts';
import type { ExportChunk } from '../../../resource/export-file.ts';
import type { MailUser } from '../../../resource/mail-recipients.ts';
import { checkQuota } from '../../../resource/quota.ts';
import type { LabelledFile } from '../../../resource/stored-file.ts';
import { exportDataset, type ExportOptions } from '../export/export-rows.ts';
import { bytesOf } from '../export/export.ts';
import {
  attachmentsTooLarge,
  loadAttachedActions,
  MAX_ATTACHED_BYTES,
  sizeOf,
  type AttachedAction,
} from './attachments.ts';
import { describeVisibleRows } from './mailed-rows.ts';

/** Maximum size of the files for all recipients, in bytes. Equal files count once. */
const MAX_TOTAL_BYTES = 1_000_000_000;
/** The janitor deletes files that have no row after an hour. */
const MAX_DURATION_MS = 45 * 60_000;

/** The exports of one recipient. */
interface OwnExports {
  attachments: LabelledFile[];
  rowsOf: MailedRows[];
}

/** The exports of each recipient. Their files have no rows yet. */
export interface RecipientExports {
  /** The files of each user who gets a mail, by the user's id. */
  files: Map<string, OwnExports>;
  /** Number of users who may not read an attached dataset. */
  withoutAccess: number;
  /** Number of users who do not see the fields that an export requires. */
  withoutFields: number;
}

/**
 * Exports the datasets of attached actions for each user, with the rows and fields that this user may see. Adds the id
 * of each file that it saves to `saved`, so that the caller can delete files without rows. Equal files are stored once.
 */
export async function exportForRecipients(
  run: ActionRun,
  users: readonly MailUser[],
  attach: readonly string[],
  saved: Set<string>,
): Promise<RecipientExports> {
  const { ctx, job, signal } = run;
  const actions = await loadAttachedActions(ctx, ctx.viewer.tenantId, job.id, attach);
  const other = actions.find(({ type }) => type !== 'export');
  if (other)
    throw conflict(`The action "${other.name}" is not an export, so not every recipient has a file of their own`);
  const store = new SharedFiles(run, saved);
  const result: RecipientExports = { files: new Map(), withoutAccess: 0, withoutFields: 0 };
  for (const [index, { id }] of users.entries()) {
    signal.throwIfAborted();
    const exported = await exportFor(run, `user:${id}`, actions, store);
    if (typeof exported === 'string') result[exported]++;
    else result.files.set(id, exported);
    run.progress((100 * (index + 1)) / users.length);
  }
  return result;
}

/** Returns the exports of a user, or the reason for none. */
async function exportFor(
  { actAs, ctx: owner }: ActionRun,
  principal: string,
  actions: readonly AttachedAction[],
  store: SharedFiles,
): Promise<OwnExports | 'withoutAccess' | 'withoutFields'> {
  const files: LabelledFile[] = [];
  const rowsOf: MailedRows[] = [];
  try {
    const ctx = await actAs(principal);
    for (const { id, data, datasetId } of actions) {
      if (datasetId === null) return 'withoutAccess';
      // Before the export: a change of the access during it then differs from what is stored.
      rowsOf.push(await describeVisibleRows(ctx, datasetId));
      const chunks = await exportDataset(ctx, datasetId, data as unknown as ExportOptions, owner);
      try {
        files.push(await store.save(id, chunks, MAX_ATTACHED_BYTES - sizeOf(files)));
      } finally {
        await chunks.return();
      }
    }
    return { attachments: files, rowsOf };
  } catch (error) {
    const status = error instanceof ApiError ? error.status : undefined;
    if (status === 403 || status === 404) return 'withoutAccess';
    // The filter uses a field that is hidden from the user.
    if (status === 400) return 'withoutFields';
    throw error;
  }
}

/** Saves the files of one run. */
class SharedFiles {
  readonly #ctx: Context;
  readonly #saved: Set<string>;
  readonly #files = new Map<string, LabelledFile>();
  readonly #startedAt = Date.now();
  #bytes = 0;

  constructor({ ctx }: ActionRun, saved: Set<string>) {
    this.#ctx = ctx;
    this.#saved = saved;
  }

  /** Saves an export of an action, or returns an equal one that is already saved. */
  async save(actionId: string, chunks: AsyncGenerator<ExportChunk, void>, maxBytes: number): Promise<LabelledFile> {
    if (Date.now() - this.#startedAt > MAX_DURATION_MS)
      throw conflict('The exports for all recipients took longer than 45 minutes');
    const { platform, viewer } = this.#ctx;
    // Every export has a chunk, and each chunk the name and the type of the file.
    const first = (await chunks.next()).value!;
    const file = await this.#write(bytesOf(first, chunks), maxBytes);
    const { filename, contentType } = first;
    const key = `${actionId} ${filename} ${file.sha256}`;
    const equal = this.#files.get(key);
    if (equal) {
      await platform.files.remove(file.id);
      this.#saved.delete(file.id);
      return equal;
    }
    this.#bytes += file.size;
    if (this.#bytes > MAX_TOTAL_BYTES)
      throw tooLarge(`The exports for all recipients have more than ${MAX_TOTAL_BYTES} bytes`);
    await checkQuota(this.#ctx, viewer.tenantId, platform.config.TENANT_QUOTA_BYTES, this.#bytes);
    const added = { ...file, filename, contentType };
    this.#files.set(key, added);
    return added;
  }

  async #write(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<SavedFile> {
    // No limit would be 0.
    if (maxBytes <= 0) throw attachmentsTooLarge();
    try {
      const file = await this.#ctx.platform.files.save(content, maxBytes);
      this.#saved.add(file.id);
      return file;
    } catch (error) {
      throw error instanceof ApiError && error.code === 'PAYLOAD_TOO_LARGE' ? attachmentsTooLarge() : error;
    }
  }
}
