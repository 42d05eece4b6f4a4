import { createReadStream } from 'node:fs';
import { Dataset } from '../../../entities/dataset.ts';
import type { SetJobActionFileInput } from '../../../entities/job-action-input.ts';
import { JobAction, type JobActionFile } from '../../../entities/job-action.ts';
import { Job } from '../../../entities/job.ts';
import { JOB } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { notFound, refused } from '../../core/errors.ts';
import { cleanFilename, type IncomingFile } from '../../core/files.ts';
import { DEFAULT_MEDIA_TYPE, isMediaType } from '../../core/media-types.ts';
import { isRestricted, levelAllows } from '../../core/permissions.ts';
import { maxBytesFor } from '../datasource/upload.ts';
import { accessLevel, ownershipLevel, type AccessColumns } from '../resource/access-level.ts';
import { loadResource } from '../resource/load-resource.ts';
import { checkQuota } from '../resource/quota.ts';
import { insertStoredFile, replaceBytes } from '../resource/stored-file.ts';
import { usedDataset } from './job-alias.ts';
import { loadForPart, loadJobAction, ownsJob } from './job-part.ts';

/** Bytes of a chunk. A multiple of 3 avoids Base64 padding inside the file. */
const CHUNK_BYTES = 3 << 16;

/** Replaces the file of an action. Returns the id of the action. */
export async function setFile(
  ctx: Context,
  jobId: string,
  actionId: string,
  { file }: SetJobActionFileInput,
): Promise<string> {
  // Access is checked before the file is received.
  await ctx.transaction(async (tx) =>
    loadJobAction(ctx, tx, await loadResource(ctx, tx, JOB, jobId, 'job:edit'), actionId),
  );
  const { files } = ctx.platform;
  const saved = await files.save(file.content, await maxBytesFor(ctx, file.minSize));
  await replaceBytes(ctx, saved.id, async () => {
    await file.wholeInput?.();
    return replaceFile(ctx, jobId, actionId, file, saved);
  });
  return actionId;
}

/** Returns the id of the former file. The database deletes its row with the last action that refers to it. */
function replaceFile(
  ctx: Context,
  jobId: string,
  actionId: string,
  { filename, contentType }: IncomingFile,
  saved: { id: string; size: number; sha256: string },
): Promise<string | null | undefined> {
  return ctx.transaction(async (tx) => {
    const action = await loadJobAction(ctx, tx, await loadForPart(ctx, tx, jobId), actionId);
    const { tenantId, fileId, name } = action;
    insertStoredFile(tx, tenantId, {
      ...saved,
      filename: cleanFilename(filename ?? name),
      contentType: isMediaType(contentType) ? contentType : DEFAULT_MEDIA_TYPE,
    });
    action.fileId = saved.id;
    action.exportedDatasetId = null;
    tx.flush();
    // The new file is already counted, and the replaced one no longer.
    await checkQuota(tx, tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, 0);
    return fileId;
  });
}

/** A part of the file of an action. Every chunk repeats the properties of the file. */
export interface JobFileChunk {
  text: string;
  encoding: 'base64';
  filename: string;
  contentType: string;
  sha256: string;
  /** Id of the job. */
  resourceId?: string;
}

interface FoundFile extends Record<string, unknown> {
  id: string;
  filename: string;
  contentType: string;
  size: number;
  sha256: string;
}

/**
 * Returns the chunks of the file of an action, at least one. Throws NOT_FOUND without a file, FORBIDDEN for an export of
 * rows that the caller may not read.
 */
export async function readFile(ctx: Context, jobId: string, actionId: string): Promise<AsyncGenerator<JobFileChunk>> {
  const job = await ctx.read.one(Job, jobId, ['id', 'ownerId']);
  const action = await ctx.read.find(JobAction, { id: actionId, jobId: job.id }, [
    'type',
    'data',
    'datasetId',
    'exportedDatasetId',
  ]);
  if (!action) throw notFound({ what: 'job action', id: actionId });
  await checkFileRows(ctx, job, { ...action, datasetId: action.exportedDatasetId ?? action.datasetId });
  const [file] = await ctx.query<FoundFile>({
    text: `
      select f.id, f.filename, f.content_type as "contentType", f.size, f.sha256
      from dws.job_action a
      join dws.stored_file f on f.id = a.file_id
      where a.tenant_id = $1 and a.id = $2 and a.exported_dataset_id is not distinct from $3`,
    values: [ctx.viewer.tenantId, action.id, action.exportedDatasetId ?? null],
  });
  if (!file) throw notFound({ what: 'file of the job action', id: actionId });
  return readChunks(ctx, job.id, file);
}

/** Throws FORBIDDEN unless the caller may read the rows in the file of an action. */
export async function checkFileRows(
  ctx: Context,
  job: Pick<Job, 'id' | 'ownerId'>,
  action: Pick<JobAction, 'type' | 'data' | 'datasetId'>,
): Promise<void> {
  if (action.type === 'export') await checkExportedRows(ctx, job, action);
  if (action.type === 'render-template' && !mayReadDocuments(ctx, job))
    throw refused('The file contains what the owner of the job may read');
}

/**
 * Returns whether the caller may read the documents that a job renders: they contain data of any dataset that its owner
 * may read. The owners of a team's job are those who may write it.
 */
export const mayReadDocuments = ({ viewer }: Pick<Context, 'viewer'>, { ownerId }: Pick<Job, 'ownerId'>): boolean =>
  levelAllows(ownershipLevel(viewer, ownerId), 'job:edit');

/**
 * Throws FORBIDDEN unless the caller may read all rows of the dataset that an export names, or owns the job: an export
 * contains the rows that the owner may read.
 */
async function checkExportedRows(
  ctx: Context,
  job: Pick<Job, 'id' | 'ownerId'>,
  action: Pick<JobAction, 'data' | 'datasetId'>,
): Promise<void> {
  if (ownsJob(ctx, job)) return;
  if (!(await mayReadAll(ctx, await usedDataset(ctx, job.id, action))))
    throw refused('The file contains rows of a dataset that you may not read in full');
}

/** Returns whether the caller may read all rows of a dataset. Calls of one tick share their statements. */
async function mayReadAll(ctx: Context, datasetId: string | null): Promise<boolean> {
  if (!datasetId) return false;
  const [dataset] = await ctx.read.many(Dataset, [datasetId], ['id', 'ownerId']);
  return Boolean(dataset) && !isRestricted(await accessLevel(ctx, dataset as AccessColumns));
}

/** An action with the columns that determine who may read its file. */
export interface ActionWithFile extends Pick<JobAction, 'id' | 'jobId' | 'type'> {
  storedFile: JobActionFile | null;
  exportedDatasetId: string | null;
  usedDataset: { id: string } | null;
  job: Pick<Job, 'ownerId'>;
}

/** Returns the file of an action; null without one and for callers who may not read it. */
export async function visibleFile(
  ctx: Context,
  { type, storedFile, exportedDatasetId, usedDataset: dataset, job }: ActionWithFile,
): Promise<JobActionFile | null> {
  if (type === 'render-template') return mayReadDocuments(ctx, job) ? storedFile : null;
  if (!storedFile || type !== 'export' || ownsJob(ctx, job)) return storedFile;
  return (await mayReadAll(ctx, exportedDatasetId ?? dataset?.id ?? null)) ? storedFile : null;
}

/** Returns the path of the file of an action; null without one and for callers who may not read it. */
export const fileUrl = async (ctx: Context, action: ActionWithFile): Promise<string | null> =>
  (await visibleFile(ctx, action)) && `/api/jobs/${action.jobId}/actions/${action.id}/action-file-contents`;

async function* readChunks(
  { platform }: Context,
  resourceId: string,
  { id, filename, contentType, sha256, size }: FoundFile,
): AsyncGenerator<JobFileChunk> {
  const common = { encoding: 'base64', filename, contentType, sha256, resourceId } as const;
  if (size === 0) yield { ...common, text: '' };
  else
    for await (const bytes of createReadStream(platform.files.path(id), { highWaterMark: CHUNK_BYTES }))
      yield { ...common, text: (bytes as Buffer).toString('base64') };
}
