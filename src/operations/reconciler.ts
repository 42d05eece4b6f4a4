import type { Platform } from '../core/platform.ts';
import { recoverAgentRuns } from '../services/agent/agent-recovery.ts';
import { endLostCalls } from '../services/ai/sent-call.ts';
import { fillHookTokens } from '../services/app/hook-token.ts';
import { sweepAuthorizations } from '../services/connection/authorization-state.ts';
import { deleteExpiredCredentials } from '../services/identity/credential-cleanup.ts';
import { recoverJobs } from '../services/job/job-recovery.ts';
import { findAbandoned } from '../services/operation/operation-repository.ts';
import { sweepReservations } from '../services/usage/credit-reservation.ts';
import type { Handlers } from './handler.ts';
import {
  sweepAiCalls,
  sweepAppRecords,
  sweepImages,
  sweepAvatarParts,
  sweepFiles,
  sweepGenerations,
  sweepMail,
  sweepRecords,
  sweepRenditions,
  sweepUsage,
  sweepWebhookReplies,
  type SweepOptions,
} from './janitor.ts';
import { endCancelledWaits, retryOrFail } from './record-outcome.ts';
import { repeatPass } from './repeated-pass.ts';

/** Key of an advisory lock, the same in every process. */
const RECONCILER_LOCK = 4_711_002;

/** Times in milliseconds. */
export interface ReconcilerOptions extends SweepOptions {
  /** Pause between two passes. */
  interval: number;
  /** Time without a heartbeat after which a worker counts as dead, and after which a queued operation is sent again. */
  heartbeatTimeout: number;
  /** Time for which records of finished operations stay. */
  retention: number;
  /** Files younger than this stay without a row, as an upload may still insert it. */
  fileAge: number;
}

/**
 * Recovers operations whose worker died and deletes old records, mails, generations and files, every `interval`. Of
 * several processes one does so at a time. See docs/contract.md#takeover.
 */
export const startReconciler = (
  platform: Platform,
  handlers: Handlers,
  options: ReconcilerOptions,
): { stop(): Promise<void> } =>
  repeatPass(
    platform,
    { interval: options.interval, delay: options.interval, failureMessage: 'A pass of the reconciler failed' },
    () => reconcile(platform, handlers, options),
  );

/**
 * Does one pass. Staged files are on each worker's own machine, so every worker sweeps its generations; one process at
 * a time does the rest.
 */
export async function reconcile(platform: Platform, handlers: Handlers, options: ReconcilerOptions): Promise<void> {
  await platform.system.transaction(async (query) => {
    const [lock] = await query<{ isLocked: boolean }>({
      text: `select pg_try_advisory_xact_lock($1) as "isLocked"`,
      values: [RECONCILER_LOCK],
    });
    if (!lock?.isLocked) return;
    await recoverAbandoned(platform, handlers, options);
    await recoverJobs(platform);
    await recoverAgentRuns(platform);
    await endLostCalls(platform);
    await query({
      text: `delete from dws.operation where finished_at < now() - $1 * interval '1 ms'`,
      values: [options.retention],
    });
    await sweepMail(query);
    await sweepRecords(query);
    await sweepAppRecords(query);
    await sweepUsage(query);
    await sweepReservations(query);
    await sweepAvatarParts(query);
    await sweepRenditions(query);
    await sweepImages(query);
    await sweepAiCalls(query);
    await sweepAuthorizations(query);
    await sweepWebhookReplies(query);
    await fillHookTokens(query, platform.secrets);
    await sweepFiles(platform, options.fileAge);
    await deleteExpiredCredentials(platform.system);
  });
  await sweepGenerations(platform, options);
}

async function recoverAbandoned(
  platform: Platform,
  handlers: Handlers,
  { heartbeatTimeout }: ReconcilerOptions,
): Promise<void> {
  const { running, queued } = await findAbandoned(platform, heartbeatTimeout);
  for (const claim of running) {
    const { operation, workId: id, attempt } = claim;
    platform.log.warn({ operation, id, attempt }, 'The worker of an operation sends no heartbeat');
    await retryOrFail(platform, handlers, claim).catch((error) =>
      platform.log.error({ err: error, id }, 'Could not recover an abandoned operation'),
    );
  }
  await endCancelledWaits(platform, handlers);
  for (const work of queued)
    await platform.database.transaction(work.tenantId, (tx) => platform.queue.send([work], tx));
}
