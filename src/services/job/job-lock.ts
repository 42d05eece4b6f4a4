import type { Job } from '../../../entities/job.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';

/** The two locks of a job: by a superuser, and by its runs. */
type Locks = Pick<Job, 'lockedAt' | 'adminLockedAt'>;

/** Returns the time of the lock that a job shows: by a superuser, else by its current run. Null without one. */
export const lockOf = ({ adminLockedAt, lockedAt }: Locks): Date | null => adminLockedAt ?? lockedAt ?? null;

/** Sentence of the error when a job that a superuser has locked would run. */
export const JOB_LOCKED = 'A superuser has locked the job';

/**
 * Sets the lock of a job by a superuser: a time locks it, null unlocks it. The lock of a run stays. A value as it was
 * read changes nothing. Throws FORBIDDEN for other values unless the caller is a superuser. See
 * docs/contract/jobs.md#jobs.
 */
export async function setLock(ctx: Context, tx: Transaction, job: Job, lockedAt: Date | null): Promise<void> {
  if (await isAsRead(tx, job, lockedAt)) return;
  if (!ctx.viewer.superuser) throw forbidden({ permission: 'tenant:superuser' });
  job.adminLockedAt = lockedAt;
}

/** Returns whether a time belongs to the lock by a superuser, or to the lock of a run, which may have ended since. */
async function isAsRead(tx: Transaction, job: Job, lockedAt: Date | null): Promise<boolean> {
  if (lockedAt === null) return !job.adminLockedAt;
  if (lockedAt.getTime() === job.adminLockedAt?.getTime()) return true;
  const [run] = await tx.query({
    text: `
      select from dws.job_run
      where tenant_id = $1 and job_id = $2 and date_trunc('milliseconds', created_at) = $3
      limit 1`,
    values: [job.tenantId, job.id, lockedAt],
  });
  return run !== undefined;
}

/** Throws CONFLICT if a superuser has locked a job, or the job of a draft. */
export async function requireUnlocked(tx: Transaction, job: Job): Promise<void> {
  if (await isLocked(tx, job)) throw conflict(JOB_LOCKED);
}

/** Returns whether a superuser has locked a job, or the job of a draft. */
export async function isLocked(tx: Transaction, { tenantId, adminLockedAt, parentId }: Job): Promise<boolean> {
  if (adminLockedAt || !parentId) return Boolean(adminLockedAt);
  const [parent] = await tx.query<{ isLocked: boolean }>({
    text: `select admin_locked_at is not null as "isLocked" from dws.job where tenant_id = $1 and id = $2`,
    values: [tenantId, parentId],
  });
  return parent?.isLocked ?? false;
}
