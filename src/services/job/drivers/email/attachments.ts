import { conflict, tooLarge } from '../../../../core/errors.ts';
import type { ActionRun } from '../../../../core/job-drivers.ts';
import type { Transaction } from '../../../../core/platform.ts';
import type { AttachedFile } from '../../../resource/mail.ts';
import { usedDatasetIn } from '../../used-dataset.ts';

/** Maximum size of the files that one mail has attached, in bytes. */
export const MAX_ATTACHED_BYTES = 20_000_000;

/** Creates the error of attachments that are too large for a mail. */
export const attachmentsTooLarge = () =>
  tooLarge(`The attachments of a mail have more than ${MAX_ATTACHED_BYTES} bytes in total`);

/** An attached action. */
export interface AttachedAction extends Record<string, unknown> {
  id: string;
  name: string;
  type: string;
  data: Record<string, unknown>;
  /** The dataset that it exports. Null if it exports none, or one that was removed from the job. */
  datasetId: string | null;
  fileId: string | null;
  /** The dataset whose rows the file has. Null for a file that was uploaded. */
  exportedDatasetId: string | null;
}

/** Loads the attached actions of a job, in the order of `ids`. */
export async function loadAttachedActions(
  { query }: Pick<Transaction, 'query'>,
  tenantId: string,
  jobId: string,
  ids: readonly string[],
): Promise<AttachedAction[]> {
  if (ids.length === 0) return [];
  return query<AttachedAction>({
    text: `
      select a.id, a.name, a.type, a.data, ${usedDatasetIn('a')} as "datasetId", a.file_id as "fileId",
        a.exported_dataset_id as "exportedDatasetId"
      from dws.job_action a
      where a.tenant_id = $1 and a.job_id = $2 and a.id = any($3::uuid[])
      order by array_position($3::uuid[], a.id)`,
    values: [tenantId, jobId, ids],
  });
}

/**
 * Returns the current files of attached actions, and locks their rows against deletion until the transaction ends.
 * Throws CONFLICT naming an action without a file, or whose file has rows of another dataset than the action refers to
 * now.
 */
export async function lockAttachedFiles(
  tx: Transaction,
  { ctx, job }: Pick<ActionRun, 'ctx' | 'job'>,
  ids: readonly string[],
): Promise<AttachedFile[]> {
  const { tenantId } = ctx.viewer;
  const actions = await loadAttachedActions(tx, tenantId, job.id, ids);
  const rows = await tx.query<AttachedFile & Record<string, unknown>>({
    text: `
      select id, filename, content_type as "contentType", size
      from dws.stored_file
      where tenant_id = $1 and id = any($2::uuid[])
      order by id
      for key share`,
    values: [tenantId, actions.flatMap(({ fileId }) => fileId ?? [])],
  });
  const files = new Map(rows.map((file) => [file.id, file]));
  const attached = actions.map(({ name, fileId, datasetId, exportedDatasetId }) => {
    const file = fileId && files.get(fileId);
    if (!file) throw conflict(`The action "${name}" has no file to attach`);
    if (exportedDatasetId !== null && exportedDatasetId !== datasetId)
      throw conflict(`The file of the action "${name}" has rows of another dataset than the action refers to now`);
    return file;
  });
  if (sizeOf(attached) > MAX_ATTACHED_BYTES) throw attachmentsTooLarge();
  return attached;
}

/** Returns the size of all files, in bytes. */
export const sizeOf = (files: readonly AttachedFile[]): number => files.reduce((sum, { size }) => sum + size, 0);
