import type { Platform } from '../core/platform.ts';
import { deleteExpiredCredentials } from '../services/identity/credential-cleanup.ts';
import { abandoned } from '../services/operation/operation-repository.ts';
import type { Handlers } from './handler.ts';
import { sweepFiles, sweepGenerations, sweepMail, sweepRecords } from './janitor.ts';
import { restart } from './record-outcome.ts';

/** Any number will do, as long as every process takes the same. */
const RECONCILER_LOCK = 4_711_002;

/** Times in milliseconds. */
export interface ReconcilerOptions {
  interval: number;
  /** How long a heartbeat may be silent before its worker counts as dead, and a waiting operation before it is queued again. */
  silence: number;
  /** How long records of finished operations stay. */
  retention: number;
  /** How long replaced generations stay for cursors and exports. */
  replacedAge: number;
  /** Generations younger than this are never taken for orphans. */
  orphanAge: number;
  /** Files younger than this may be on their way to a row. */
  fileAge: number;
}

export interface Reconciler {
  stop(): Promise<void>;
}

/** Looks after the operations whose worker died, after old records and mails, and after what index and folder hold for nobody: every `interval`, in one process at a time. */
export function startReconciler(platform: Platform, handlers: Handlers, options: ReconcilerOptions): Reconciler {
  let passing: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    passing = reconcile(platform, handlers, options)
      .catch((error) => platform.log.warn({ err: error }, 'The reconciler met an error'))
      .finally(() => {
        busy = false;
      });
  }, options.interval);
  return {
    async stop() {
      clearInterval(timer);
      await passing;
    },
  };
}

/** One pass. What is staged lies on each worker's own machine, so each looks after generations; the rest is one process's at a time. */
export async function reconcile(platform: Platform, handlers: Handlers, options: ReconcilerOptions): Promise<void> {
  await platform.system.transaction(async (query) => {
    const [lock] = await query<{ mine: boolean }>({
      text: `select pg_try_advisory_xact_lock($1) as mine`,
      values: [RECONCILER_LOCK],
    });
    if (!lock?.mine) return;
    await revive(platform, handlers, options);
    await query({
      text: `delete from dws.operation where finished_at < now() - $1 * interval '1 ms'`,
      values: [options.retention],
    });
    await sweepMail(query);
    await sweepRecords(query);
    await sweepFiles(platform, options.fileAge);
    await deleteExpiredCredentials(platform.system);
  });
  await sweepGenerations(platform, options);
}

async function revive(platform: Platform, handlers: Handlers, { silence }: ReconcilerOptions): Promise<void> {
  const { running, queued } = await abandoned(platform, silence);
  for (const claim of running) {
    platform.log.warn(
      { operation: claim.operation, id: claim.workId, attempt: claim.attempt },
      'The worker of an operation fell silent',
    );
    await restart(platform, handlers, claim).catch((error) =>
      platform.log.error({ err: error, id: claim.workId }, 'An abandoned operation could not be settled'),
    );
  }
  for (const work of queued) await platform.database.transaction(work.tenantId, (tx) => platform.queue.send(work, tx));
}
