import { FILE_LOCK } from '../adapters/database/file-lock.ts';
import { GENERATION_LOCK } from '../adapters/database/generation-lock.ts';
import type { Query } from '../core/database.ts';
import type { GenerationId } from '../core/dataset-index.ts';
import { creationTimeOf, isUuid } from '../core/id.ts';
import type { Platform } from '../core/platform.ts';

/** Ages in milliseconds. */
export interface SweepOptions {
  replacedAge: number;
  orphanAge: number;
}

/** Every generation that a row names: published ones, and those of rehearsed refreshes. */
const NAMED = '(select id from dws.generation union all select id from dws.refresh_preview)';

/** Drops what the index holds for nobody: generations replaced long enough ago, rehearsed ones that expired, and those, finished or half made, that no row names and no loader holds. */
export async function sweepGenerations(platform: Platform, { replacedAge, orphanAge }: SweepOptions): Promise<void> {
  await platform.system.query({
    text: `update dws.generation g set replaced_at = now() where replaced_at is null and not exists (select from dws.dataset d where d.generation_id = g.id)`,
  });
  await platform.system.query({
    text: `delete from dws.generation where replaced_at < now() - $1 * interval '1 ms'`,
    values: [replacedAge],
  });
  await platform.system.query({ text: `delete from dws.refresh_preview where expires_at < now()` });

  const present = await platform.index.generations();
  const named = new Set(
    (
      await platform.system.query<{ id: GenerationId }>({
        text: `select id from ${NAMED} n where id = any($1::uuid[])`,
        values: [present.map(({ id }) => id).filter(isUuid)],
      })
    ).map(({ id }) => id),
  );
  for (const { id } of present) {
    if (named.has(id) || !isUuid(id) || Date.now() - creationTimeOf(id) < orphanAge) continue;
    await dropOrphan(platform, id).catch((error) =>
      platform.log.warn({ err: error, generation: id }, 'An orphaned generation could not be dropped'),
    );
  }
}

/** Drops what nobody needs of the outbox any more: mails of a month ago, and links to a new password a day after their end. */
export async function sweepMail(query: Query): Promise<void> {
  await query({ text: `delete from dws.mail where created_at < now() - interval '30 days'` });
  await query({ text: `delete from dws.password_reset where expires_at < now() - interval '1 day'` });
}

/** How long activities and the audit log stay, and what users were told. */
const RECORDS_STAY = '400 days',
  NOTIFICATIONS_STAY = '90 days';

/** Deletes what was done too long ago for anybody to ask. */
export async function sweepRecords(query: Query): Promise<void> {
  for (const table of ['activity', 'audit_event'])
    await query({ text: `delete from dws.${table} where created_at < now() - interval '${RECORDS_STAY}'` });
  await query({ text: `delete from dws.notification where created_at < now() - interval '${NOTIFICATIONS_STAY}'` });
}

/** Drops one generation under its lock, unless a row names it: whoever made it may have published it since somebody looked. */
export function dropOrphan(platform: Platform, id: GenerationId): Promise<void> {
  return platform.system.transaction(async (query) => {
    const [lock] = await query<{ mine: boolean }>({
      text: `select pg_try_advisory_xact_lock(${GENERATION_LOCK}) as mine`,
      values: [id],
    });
    if (!lock?.mine) return;
    const [row] = await query({ text: `select from ${NAMED} n where id = $1`, values: [id] });
    if (row) return;
    await platform.index.drop(id);
    platform.log.info({ generation: id }, 'An orphaned generation was dropped');
  });
}

/** Removes the files that no row names: what an upload that broke off left, and those whose rows were deleted. An upload has its row long before `fileAge`. */
export async function sweepFiles(platform: Platform, fileAge: number): Promise<void> {
  const old = (await platform.files.list())
    .filter((file) => Date.now() - file.createdAt >= fileAge)
    .map(({ id }) => id);
  if (old.length === 0) return;
  const named = new Set(
    (
      await platform.system.query<{ id: string }>({
        text: `select id from dws.stored_file where id = any($1::uuid[])`,
        values: [old],
      })
    ).map(({ id }) => id),
  );
  for (const id of old) {
    if (!named.has(id))
      await dropFile(platform, id).catch((error) =>
        platform.log.warn({ err: error, file: id }, 'An orphaned file could not be removed'),
      );
  }
}

/** Removes one file under its lock: a refresh whose datasource was deleted meanwhile may still read it. */
function dropFile(platform: Platform, id: string): Promise<void> {
  return platform.system.transaction(async (query) => {
    const [lock] = await query<{ mine: boolean }>({
      text: `select pg_try_advisory_xact_lock(${FILE_LOCK}) as mine`,
      values: [id],
    });
    if (!lock?.mine) return;
    await platform.files.remove(id);
    platform.log.info({ file: id }, 'An orphaned file was removed');
  });
}
