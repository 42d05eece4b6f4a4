import { FILE_LOCK } from '../adapters/database/file-lock.ts';
import { GENERATION_LOCK } from '../adapters/database/generation-lock.ts';
import type { Query } from '../core/database.ts';
import type { GenerationId } from '../core/dataset-index.ts';
import { creationTimeOf, isUuid } from '../core/id.ts';
import { KEY_RETENTION } from '../core/idempotency.ts';
import type { Platform } from '../core/platform.ts';

/** Ages in milliseconds. */
export interface SweepOptions {
  /** Time for which replaced generations stay for open cursors and exports. */
  replacedAge: number;
  /** Age from which a generation without a row counts as an orphan. */
  orphanAge: number;
}

/** Generations that a row of a dataset or of a refresh preview names. */
const NAMED_GENERATIONS = '(select id from dws.generation union all select id from dws.refresh_preview)';

/**
 * Drops the generations that are no longer used: generations replaced long enough ago, generations of expired previews,
 * and finished or unfinished ones that no row names and no loader has locked.
 */
export async function sweepGenerations(
  platform: Platform,
  { replacedAge, orphanAge }: SweepOptions,
  signal?: AbortSignal,
): Promise<void> {
  await deleteGenerationRows(platform, replacedAge);
  const present = await platform.index.generations();
  const rows = await platform.system.query<{ id: GenerationId }>({
    text: `select id from ${NAMED_GENERATIONS} n where id = any($1::uuid[])`,
    values: [present.map(({ id }) => id).filter(isUuid)],
  });
  const named = new Set(rows.map(({ id }) => id));
  for (const { id } of present) {
    signal?.throwIfAborted();
    if (named.has(id) || !isUuid(id) || Date.now() - creationTimeOf(id) < orphanAge) continue;
    await dropOrphan(platform, id).catch((error) =>
      platform.log.warn({ err: error, generation: id }, 'Could not drop an orphaned generation'),
    );
  }
}

/** Marks the generations that no dataset uses as replaced, and deletes the rows of expired ones. */
async function deleteGenerationRows({ system }: Platform, replacedAge: number): Promise<void> {
  await system.query({
    text: `update dws.generation g
      set replaced_at = now()
      where replaced_at is null and not exists (select from dws.dataset d where d.generation_id = g.id)`,
  });
  await system.query({
    text: `delete from dws.generation where replaced_at < now() - $1 * interval '1 ms'`,
    values: [replacedAge],
  });
  await system.query({ text: `delete from dws.refresh_preview where expires_at < now()` });
}

/** Drops one generation under its lock, unless a row names it: it may have been published since the caller looked. */
export function dropOrphan(platform: Platform, id: GenerationId): Promise<void> {
  return platform.system.transaction(async (query) => {
    if (!(await tryLock(query, GENERATION_LOCK, id))) return;
    const [row] = await query({ text: `select from ${NAMED_GENERATIONS} n where id = $1`, values: [id] });
    if (row) return;
    await platform.index.drop(id);
    platform.log.info({ generation: id }, 'Dropped an orphaned generation');
  });
}

/** Takes an advisory lock for the transaction, unless another process has it. `key` is SQL over the id `$1`. */
async function tryLock(query: Query, key: string, id: string): Promise<boolean> {
  const [lock] = await query<{ isLocked: boolean }>({
    text: `select pg_try_advisory_xact_lock(${key}) as "isLocked"`,
    values: [id],
  });
  return lock?.isLocked ?? false;
}

/** Deletes mails after 30 days, and links to set a new password one day after they expire. */
export async function sweepMail(query: Query): Promise<void> {
  await query({ text: `delete from dws.mail where created_at < now() - interval '30 days'` });
  await query({ text: `delete from dws.password_reset where expires_at < now() - interval '1 day'` });
}

/** Retention of activity, audit events and runs of jobs and agents, of notifications, and of events of apps. */
const RECORD_RETENTION = '400 days';
const NOTIFICATION_RETENTION = '90 days';
const APP_EVENT_RETENTION = '7 days';

/** Deletes activity, audit events, runs of jobs and agents, notifications and events of apps after their retention. */
export async function sweepRecords(query: Query): Promise<void> {
  for (const table of ['activity', 'audit_event', 'job_run', 'agent_run'])
    await query({ text: `delete from dws.${table} where created_at < now() - interval '${RECORD_RETENTION}'` });
  await query({ text: `delete from dws.notification where created_at < now() - interval '${NOTIFICATION_RETENTION}'` });
  await query({ text: `delete from dws.app_event where created_at < now() - interval '${APP_EVENT_RETENTION}'` });
}

/** Deletes lines of the logs of apps after a week, and calls of their webhooks and totals of a day after 30 days. */
export async function sweepAppRecords(query: Query): Promise<void> {
  await query({ text: `delete from dws.app_log where at < now() - interval '7 days'` });
  await query({ text: `delete from dws.webhook_call where at < now() - interval '30 days'` });
  for (const table of ['webhook_day', 'webhook_refusal_day'])
    await query({ text: `delete from dws.${table} where day < (now() at time zone 'UTC')::date - 30` });
}

/** Deletes usage events after their retention, and the totals of their days. Call it in one transaction. */
export async function sweepUsage(query: Query): Promise<void> {
  await query({ text: 'delete from dws.usage_event where occurred_at < dws.usage_kept_since()' });
  await query({ text: `delete from dws.usage_day where day < (dws.usage_kept_since() at time zone 'UTC')::date` });
}

/** Deletes the parts of avatars whose upload was not completed within a day. `sweepFiles` deletes their bytes. */
export async function sweepAvatarParts(query: Query): Promise<void> {
  await query({
    text: `
      delete from dws.stored_file
      where id in (select file_id from dws.avatar_upload_part where created_at < now() - interval '24 hours')`,
  });
}

/** Maximum number of responses of webhooks that are kept of the proven calls of an app, and of its other calls. */
const MAX_REPLIES = 10_000;

/** Deletes the responses of webhooks that are no longer repeated, and the oldest of an app with too many. */
export async function sweepWebhookReplies(query: Query): Promise<void> {
  await query({ text: `delete from dws.webhook_reply where created_at < now() - interval '${KEY_RETENTION}'` });
  await query({
    text: `
      delete from dws.webhook_reply r
      using (
        select app_id, key, row_number() over (partition by app_id, proven order by created_at desc) as number
        from dws.webhook_reply
        where (app_id, proven) in (select app_id, proven from dws.webhook_reply group by app_id, proven having count(*) > $1)
      ) o
      where o.number > $1 and r.app_id = o.app_id and r.key = o.key and r.response is not null`,
    values: [MAX_REPLIES],
  });
}

/** Deletes idempotency keys after their retention. */
export async function sweepKeys(query: Query): Promise<void> {
  await query({
    text: `delete from dws.idempotency_key where created_at < now() - interval '${KEY_RETENTION}'`,
  });
}

/** Deletes renditions that have expired. `sweepFiles` deletes their bytes. */
export async function sweepRenditions(query: Query): Promise<void> {
  await query({ text: `delete from dws.rendition where expires_at < now()` });
}

/** Retention of images, and of the prompts of calls of AI providers. */
const AI_CONTENT_RETENTION = '90 days';

/** Deletes images after their retention, and images that no user can see. `sweepFiles` deletes their bytes. */
export async function sweepImages(query: Query): Promise<void> {
  await query({
    text: `
      delete from dws.stored_file
      where id in (
        select file_id
        from dws.image
        where created_at < now() - interval '${AI_CONTENT_RETENTION}' or (user_id is null and assistant_id is null)
      )`,
  });
}

/** Deletes prompts of AI calls after the retention of prompts, and the calls after the retention of records. */
export async function sweepAiCalls(query: Query): Promise<void> {
  await query({
    text: `
      update dws.ai_call
      set sealed_prompt = null
      where sealed_prompt is not null and created_at < now() - interval '${AI_CONTENT_RETENTION}'`,
  });
  await query({ text: `delete from dws.ai_call where created_at < now() - interval '${RECORD_RETENTION}'` });
}

/** Number of files whose rows are looked up together, and of orphans that are removed in one transaction. */
const FILE_BATCH = 100;

/**
 * Removes stored files that no row names: files of interrupted uploads and files whose rows were deleted. Files that
 * were written less than `fileAge` milliseconds ago stay, because an upload inserts its row well within this time.
 */
export async function sweepFiles(platform: Platform, fileAge: number, signal?: AbortSignal): Promise<void> {
  const old = (await platform.files.list())
    .filter((file) => Date.now() - file.createdAt >= fileAge)
    .map(({ id }) => id);
  for (let start = 0; start < old.length; start += FILE_BATCH) {
    signal?.throwIfAborted();
    await sweepBatch(platform, old.slice(start, start + FILE_BATCH), fileAge);
  }
}

async function sweepBatch(platform: Platform, batch: readonly string[], fileAge: number): Promise<void> {
  const orphans = await platform.system.query<{ id: string }>({
    text: `select id from unnest($1::uuid[]) f (id) where not exists (select from dws.stored_file s where s.id = f.id)`,
    values: [batch],
  });
  if (orphans.length === 0) return;
  await platform.system.transaction(async (query) => {
    // A refresh whose datasource was deleted during it may still read the file.
    const locked = await Promise.all(orphans.map(({ id }) => tryLock(query, FILE_LOCK, id)));
    for (const [i, { id }] of orphans.entries())
      if (locked[i])
        await removeOrphan(platform, id, fileAge).catch((error) =>
          platform.log.warn({ err: error, file: id }, 'Could not remove an orphaned file'),
        );
  });
}

/** Removes a file without a row, unless it was written lately: the download of a large file takes long. */
async function removeOrphan({ files, log }: Platform, id: string, fileAge: number): Promise<void> {
  const writtenAt = await files.writtenAt(id);
  if (writtenAt !== undefined && Date.now() - writtenAt < fileAge) return;
  await files.remove(id);
  log.info({ file: id }, 'Removed an orphaned file');
}
