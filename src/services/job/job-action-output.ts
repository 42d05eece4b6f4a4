import { conflict, notFound } from '../../core/errors.ts';
import { cleanFilename, type SavedFile } from '../../core/files.ts';
import type { ActionRun } from '../../core/job-drivers.ts';
import { checkQuota, loadBytesLeft } from '../resource/quota.ts';
import { insertStoredFile, replaceBytes } from '../resource/stored-file.ts';
import { usedDatasetIn } from './used-dataset.ts';

/** A file that an action of a run writes. */
interface ActionOutput {
  filename: string;
  contentType: string;
  content: AsyncIterable<Uint8Array>;
}

type OutputRun = Pick<ActionRun, 'ctx' | 'action' | 'datasetId'> & {
  /** The template that was rendered. */
  templateId?: string;
};

interface FormerFile extends Record<string, unknown> {
  id: string | null;
  size: number;
  /** The dataset and the template that the action names now. */
  datasetId: string | null;
  templateId: string | null;
  ownerId: string;
}

/** Selects the file of the action `$2`. */
const FORMER_FILE = `
  select a.file_id as id, coalesce(f.size, 0) as size, ${usedDatasetIn('a')} as "datasetId",
    a.template_id as "templateId", j.owner_id as "ownerId"
  from dws.job_action a
  join dws.job j on j.id = a.job_id
  left join dws.stored_file f on f.id = a.file_id
  where a.tenant_id = $1 and a.id = $2`;

/**
 * Replaces the file of an action by an export of its dataset, or a document of its template, that its run writes. This
 * does not count as a change of the job: there is no activity and no new version. If the run fails or is cancelled, the
 * former file stays. Throws 413 past the quota of the tenant, and CONFLICT if by now the action names another dataset
 * or template or the job has another owner.
 */
export async function replaceOutput(run: OutputRun, { filename, contentType, content }: ActionOutput): Promise<void> {
  const { ctx, action } = run;
  const { platform, viewer } = ctx;
  const { TENANT_QUOTA_BYTES: quota } = platform.config;
  const [present] = await ctx.query<FormerFile>({ text: FORMER_FILE, values: [viewer.tenantId, action.id] });
  const maxBytes = await loadBytesLeft(ctx, viewer.tenantId, quota, present?.size);
  const saved = await platform.files.save(content, maxBytes === Infinity ? 0 : maxBytes);
  await replaceBytes(ctx, saved.id, () => attach(run, { ...saved, filename: cleanFilename(filename), contentType }));
}

/** Returns the id of the former file. The database deletes its row with the last action that refers to it. */
const attach = (
  { ctx: { transaction, platform, viewer }, action, datasetId, templateId }: OutputRun,
  file: SavedFile & Pick<ActionOutput, 'filename' | 'contentType'>,
): Promise<string | null> =>
  transaction(async (tx) => {
    const { tenantId } = viewer;
    const values = [tenantId, action.id];
    await tx.query({ text: `select from dws.job_action where tenant_id = $1 and id = $2 for update`, values });
    // Not in the statement that locks: it would see the job and its datasets as they were before it waited.
    const [former] = await tx.query<FormerFile>({ text: FORMER_FILE, values });
    if (!former) throw notFound({ what: 'job action', id: action.id });
    if (!usesSame(former, { datasetId, templateId }) || former.ownerId !== viewer.principals[0])
      throw conflict('The action was changed during the run');
    insertStoredFile(tx, tenantId, file);
    tx.execute({
      text: `update dws.job_action set file_id = $3, exported_dataset_id = $4 where tenant_id = $1 and id = $2`,
      values: [...values, file.id, datasetId || null],
    });
    // The new file is already counted, and the replaced one no longer.
    await checkQuota(tx, tenantId, platform.config.TENANT_QUOTA_BYTES, 0);
    return former.id;
  });

const usesSame = (now: FormerFile, { datasetId, templateId }: Pick<OutputRun, 'datasetId' | 'templateId'>): boolean =>
  now.datasetId === (datasetId || null) && now.templateId === (templateId ?? null);
