import { JobAction } from '../../../../../entities/job-action.ts';
import { Job } from '../../../../../entities/job.ts';
import type { Context } from '../../../../core/context.ts';
import { ApiError, notFound } from '../../../../core/errors.ts';
import { isUuid } from '../../../../core/id.ts';
import { invalid } from '../../../../core/input-checks.ts';
import type { ActionPreview, JobData, SavedAction } from '../../../../core/job-drivers.ts';
import { checkFileRows, mayReadDocuments } from '../../job-action-file.ts';
import { previewExport, type ExportOptions } from '../export/export-rows.ts';
import { loadAttachedActions, type AttachedAction } from './attachments.ts';
import type { EmailData } from './email-data.ts';

/**
 * Returns the ids of attached actions in lower case. Throws NOT_FOUND for an action of another job, BAD_USER_INPUT for
 * an action whose file recipients cannot get, and FORBIDDEN for an export that the caller may not read.
 */
export async function checkAttached(
  data: EmailData & Required<Pick<EmailData, 'attach'>>,
  { ctx, tx, jobId, actionId }: SavedAction,
): Promise<string[]> {
  const ids = data.attach.map((id) => id.toLowerCase());
  const own = ids.findIndex((id) => id === actionId);
  if (own >= 0) throw invalid(`data.attach.${own}`, 'must be another action');
  const actions = new Map((await tx.find(JobAction, { jobId })).map((action) => [action.id, action]));
  const unknown = ids.find((id) => !isUuid(id) || !actions.has(id));
  if (unknown !== undefined) throw notFound({ what: 'job action', id: unknown });
  const former = actionId && (actions.get(actionId)!.data as unknown as EmailData);
  if (data.runAs === 'recipient') {
    const other = ids.findIndex((id) => actions.get(id)!.type !== 'export');
    if (other >= 0)
      throw invalid(`data.attach.${other}`, 'must be an export: not every recipient has a file of their own otherwise');
  } else if (!former || addsRecipientOrFile(data, former))
    for (const id of ids) await checkFile(ctx, tx, actions.get(id)!);
  return [...new Set(ids)];
}

/** Returns whether a recipient gets a file that they did not get before. */
const addsRecipientOrFile = (data: EmailData, former: EmailData): boolean =>
  former.runAs === 'recipient' ||
  data.recipients.some((recipient) => !former.recipients.includes(recipient)) ||
  data.attach!.some((id) => !former.attach?.includes(id.toLowerCase()));

/** Checks that the caller may read the file of an action, and its next exports, which they could mail to themselves. */
async function checkFile(ctx: Context, tx: SavedAction['tx'], action: JobAction): Promise<void> {
  const job = (await tx.findOne(Job, { id: action.jobId }))!;
  const { exportedDatasetId: datasetId } = action;
  await checkFileRows(ctx, job, action);
  if (datasetId) await checkFileRows(ctx, job, { ...action, datasetId });
}

/** Returns the facts about the attached files of a mail that the caller may know. */
export async function previewAttached({ ctx, job, data }: ActionPreview<EmailData>): Promise<JobData[]> {
  const { ownerId } = await ctx.read.one(Job, job.id, ['ownerId']);
  const actions = await loadAttachedActions(ctx, ctx.viewer.tenantId, job.id, data.attach ?? []);
  return Promise.all(
    actions.map(async (action) => ({
      action: action.name,
      ...(await previewOf(ctx, ownerId, action)),
    })),
  );
}

function previewOf(ctx: Context, ownerId: string, action: AttachedAction): Promise<JobData> | JobData {
  if (action.type === 'export') return previewRows(ctx, action);
  const isHidden = action.type === 'render-template' && !mayReadDocuments(ctx, { ownerId });
  return isHidden ? { filename: null, size: null } : previewFile(ctx, action);
}

/** The rows that the caller sees; null if they may not read the dataset or use the filter. */
async function previewRows(ctx: Context, { data, datasetId }: AttachedAction): Promise<JobData> {
  const options = data as unknown as ExportOptions;
  const { filename, rows } = (datasetId && (await previewExport(ctx, datasetId, options).catch(unlessUnreadable))) || {
    filename: null,
    rows: null,
  };
  return { filename, rows };
}

function unlessUnreadable(error: unknown): null {
  if (error instanceof ApiError && [400, 403, 404].includes(error.status)) return null;
  throw error;
}

async function previewFile(ctx: Context, { fileId }: AttachedAction): Promise<JobData> {
  const [file] = await ctx.query<{ filename: string; size: number }>({
    text: `select filename, size from dws.stored_file where tenant_id = $1 and id = $2`,
    values: [ctx.viewer.tenantId, fileId],
  });
  return { filename: file?.filename ?? null, size: file?.size ?? null };
}
