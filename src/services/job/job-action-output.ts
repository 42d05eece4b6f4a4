import { notFound } from '../../core/errors.ts';
import { cleanFilename, type SavedFile } from '../../core/files.ts';
import type { ActionRun } from '../../core/job-drivers.ts';
import { checkQuota, loadBytesLeft } from '../resource/quota.ts';
import { deleteStoredBytes, deleteUnreferenced, insertStoredFile } from '../resource/stored-file.ts';

/** A file that an action of a run writes. */
interface ActionOutput {
  filename: string;
  contentType: string;
  content: AsyncIterable<Uint8Array>;
}

interface FormerFile extends Record<string, unknown> {
  id: string | null;
  size: number;
}

/** Selects the file of the action `$2`. */
const FORMER_FILE = `
  select a.file_id as id, coalesce(f.size, 0) as size
  from dws.job_action a
  left join dws.stored_file f on f.id = a.file_id
  where a.tenant_id = $1 and a.id = $2`;

/**
 * Replaces the file of an action by one that its run writes. This is no change of the job: it has no activity and no new
 * version. If the run fails or is cancelled, the former file stays. Throws 413 past the quota of the tenant.
 */
export async function replaceOutput(
  { ctx, action }: Pick<ActionRun, 'ctx' | 'action'>,
  { filename, contentType, content }: ActionOutput,
): Promise<void> {
  const { platform, viewer } = ctx;
  const { TENANT_QUOTA_BYTES: quota } = platform.config;
  const [present] = await ctx.query<FormerFile>({ text: FORMER_FILE, values: [viewer.tenantId, action.id] });
  const maxBytes = await loadBytesLeft(ctx, viewer.tenantId, quota, present?.size);
  const saved = await platform.files.save(content, maxBytes === Infinity ? 0 : maxBytes);
  try {
    const former = await attach(ctx, action.id, { ...saved, filename: cleanFilename(filename), contentType });
    if (former) await deleteUnreferenced(ctx, [former]);
  } catch (error) {
    await deleteStoredBytes(ctx, [saved.id]);
    throw error;
  }
}

/** Returns the id of the former file. Its row is deleted with the last action that has it, by the database. */
const attach = (
  { transaction, platform, viewer: { tenantId } }: ActionRun['ctx'],
  actionId: string,
  file: SavedFile & Pick<ActionOutput, 'filename' | 'contentType'>,
): Promise<string | null> =>
  transaction(async (tx) => {
    const [former] = await tx.query<FormerFile>({
      text: `${FORMER_FILE} for update of a`,
      values: [tenantId, actionId],
    });
    if (!former) throw notFound({ what: 'job action', id: actionId });
    insertStoredFile(tx, tenantId, file);
    tx.execute({
      text: `update dws.job_action set file_id = $3 where tenant_id = $1 and id = $2`,
      values: [tenantId, actionId, file.id],
    });
    // The new file is counted already, the replaced one no more.
    await checkQuota(tx, tenantId, platform.config.TENANT_QUOTA_BYTES, 0);
    return former.id;
  });
