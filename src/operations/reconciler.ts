import type { Query } from '../core/database.ts';
import { LOCKS } from '../core/locks.ts';
import type { Platform } from '../core/platform.ts';
import { withTimeout } from '../core/with-timeout.ts';
import { recoverAgentRuns } from '../services/agent/agent-run-end.ts';
import { endLostCalls } from '../services/ai/sent-call.ts';
import { fillHookTokens } from '../services/app/hook-token.ts';
import { sweepFieldUsage } from '../services/client/field-usage-report.ts';
import { sweepAuthorizations } from '../services/connection/authorization-state.ts';
import { deleteExpiredCredentials } from '../services/identity/credential-cleanup.ts';
import { recoverJobs } from '../services/job/job-recovery.ts';
import { findAbandoned, findUnclaimed } from '../services/operation/operation-repository.ts';
import { sweepReservations } from '../services/usage/credit-reservation.ts';
import type { Handlers } from './handler.ts';
import {
  sweepAiCalls,
  sweepAppRecords,
  sweepImages,
  sweepKeys,
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
  /** Time after which a sweep starts no further step. The next pass continues it. */
  sweepTimeout: number;
}

/** A pass of the reconciler. */
interface Pass {
  platform: Platform;
  handlers: Handlers;
  options: ReconcilerOptions;
  /** Aborts when the process stops, another process may start a pass, or the time of the sweep is over. */
  signal: AbortSignal;
}

/** A part of a pass. */
interface Sweep {
  /** For the log. */
  name: string;
  /** Does the sweep in transactions of its own, each of them short, and none after the signal aborts. */
  run(pass: Pass): Promise<void>;
}

/** Returns a sweep of independent statements, each in a transaction of its own. */
const statements = (name: string, sweep: (query: Query) => Promise<void>): Sweep => ({
  name,
  run: ({ platform, signal }) =>
    sweep(async (statement) => {
      signal.throwIfAborted();
      return platform.system.query(statement);
    }),
});

/** The sweeps of one process at a time, in this order. */
const SWEEPS: readonly Sweep[] = [
  { name: 'abandoned operations', run: recoverAbandoned },
  { name: 'cancelled operations', run: ({ platform, handlers }) => endCancelledWaits(platform, handlers) },
  { name: 'queued operations', run: sendAgain },
  { name: 'runs of jobs', run: ({ platform, signal }) => recoverJobs(platform, signal) },
  { name: 'runs of agents', run: ({ platform, signal }) => recoverAgentRuns(platform, signal) },
  { name: 'calls of AI providers', run: ({ platform, signal }) => endLostCalls(platform, signal) },
  { name: 'records of operations', run: sweepOperations },
  statements('mail', sweepMail),
  statements('records', sweepRecords),
  statements('records of apps', sweepAppRecords),
  { name: 'usage', run: ({ platform }) => platform.system.transaction(sweepUsage) },
  statements('reservations of credits', sweepReservations),
  statements('parts of avatars', sweepAvatarParts),
  statements('renditions', sweepRenditions),
  statements('idempotency keys', sweepKeys),
  statements('images', sweepImages),
  statements('records of AI calls', sweepAiCalls),
  statements('usage of fields', sweepFieldUsage),
  statements('authorizations', sweepAuthorizations),
  statements('responses of webhooks', sweepWebhookReplies),
  {
    name: 'hook tokens',
    run: ({ platform }) => platform.system.transaction((query) => fillHookTokens(query, platform.secrets)),
  },
  { name: 'files', run: ({ platform, options, signal }) => sweepFiles(platform, options.fileAge, signal) },
  statements('credentials', deleteExpiredCredentials),
];

/** Every worker sweeps its generations: the staged files of some indexes are on the worker's own machine. */
const GENERATIONS: Sweep = {
  name: 'generations',
  run: ({ platform, options, signal }) => sweepGenerations(platform, options, signal),
};

/**
 * Recovers operations whose worker died and deletes old records, mails, generations and files, every `interval`. Of
 * several processes one does so at a time. See docs/contract/operations.md#takeover.
 */
export const startReconciler = (
  platform: Platform,
  handlers: Handlers,
  options: ReconcilerOptions,
): { stop(): Promise<void> } =>
  repeatPass(
    platform,
    { interval: options.interval, delay: options.interval, failureMessage: 'A pass of the reconciler failed' },
    (signal) => reconcile(platform, handlers, options, signal),
  );

/**
 * Does one pass. A sweep that fails is logged, and the others follow. Throws UNAVAILABLE if Postgres does not respond or the
 * lock is lost, and the reason of the signal when it aborts.
 */
export async function reconcile(
  platform: Platform,
  handlers: Handlers,
  options: ReconcilerOptions,
  stopping: AbortSignal = new AbortController().signal,
): Promise<void> {
  const pass = { platform, handlers, options };
  try {
    await platform.system.runExclusively(LOCKS.reconciler, async (lost) => {
      const signal = AbortSignal.any([stopping, lost]);
      for (const sweep of SWEEPS) await runSweep(sweep, { ...pass, signal });
    });
  } finally {
    await runSweep(GENERATIONS, { ...pass, signal: stopping });
  }
}

/** Does a sweep until its time is over. Logs its failure. Throws the reason of the signal. */
async function runSweep({ name, run }: Sweep, pass: Pass): Promise<void> {
  const { platform, options } = pass;
  const timeoutError = (): Error => new Error(`The sweep takes longer than ${options.sweepTimeout} ms`);
  try {
    pass.signal.throwIfAborted();
    await withTimeout(options.sweepTimeout, timeoutError, [pass.signal], (signal) => run({ ...pass, signal }));
  } catch (error) {
    pass.signal.throwIfAborted();
    platform.log.warn({ err: error, sweep: name }, 'A sweep failed');
  }
}

async function recoverAbandoned({ platform, handlers, options, signal }: Pass): Promise<void> {
  for (const claim of await findAbandoned(platform, options.heartbeatTimeout)) {
    signal.throwIfAborted();
    const { operation, workId: id, attempt } = claim;
    platform.log.warn({ operation, id, attempt }, 'The worker of an operation sends no heartbeat');
    await retryOrFail(platform, handlers, claim).catch((error) =>
      platform.log.error({ err: error, id }, 'Could not recover an abandoned operation'),
    );
  }
}

async function sendAgain({ platform, options, signal }: Pass): Promise<void> {
  for (const work of await findUnclaimed(platform, options.heartbeatTimeout)) {
    signal.throwIfAborted();
    await platform.database
      .transaction(work.tenantId, (tx) => platform.queue.send([work], tx))
      .catch((error: unknown) =>
        platform.log.error({ err: error, id: work.workId }, 'Could not queue an operation again'),
      );
  }
}

async function sweepOperations({ platform, options }: Pass): Promise<void> {
  await platform.system.query({
    text: `delete from dws.operation where finished_at < now() - $1 * interval '1 ms'`,
    values: [options.retention],
  });
}
