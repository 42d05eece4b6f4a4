import { setTimeout } from 'node:timers/promises';
import type { PgBossQueue } from '../adapters/queue/pg-boss.ts';
import { isConnectionLoss } from '../core/connection-loss.ts';
import { cancelled, ApiError } from '../core/errors.ts';
import type { QueuedWork } from '../core/operations.ts';
import type { Platform } from '../core/platform.ts';
import { acquireLease, type Lease } from '../services/operation/operation-lease.ts';
import {
  claim as claimWork,
  failureOf,
  finish,
  lockLease,
  Superseded,
  type Claim,
} from '../services/operation/operation-repository.ts';
import { Interrupted, type Handlers, type Prepared } from './handler.ts';
import { record, restart } from './record-outcome.ts';

/** How often, and after how many milliseconds again, the end of work is recorded while Postgres is away. */
const TRIES = 60;
const TRY_EVERY = 500;

/** Times in milliseconds. */
export interface RunnerOptions {
  heartbeat: number;
  /** How long a shutdown waits for what runs before it hands it back. */
  patience: number;
}

/** Does long operations in this process. */
export interface Runner {
  /** Stops taking work, waits for what runs, hands back what does not end in time. */
  stop(): Promise<void>;
}

/** Takes work from the queue: at most `WORKER_CONCURRENCY` at once, at most half of it for one tenant. */
export async function startRunner(
  platform: Platform,
  queue: PgBossQueue,
  handlers: Handlers,
  options: RunnerOptions,
): Promise<Runner> {
  const running = new Map<Promise<void>, Lease>();
  let stopping = false;

  const work = async (queued: QueuedWork) => {
    if (stopping) return platform.database.transaction(queued.tenantId, (tx) => queue.send(queued, tx));
    const claim = await claimWork(platform, queued);
    if (!claim) return;
    const held = acquireLease(platform, claim, options.heartbeat);
    const done = carryOut(platform, handlers, claim, held, () => stopping).finally(() => running.delete(done));
    running.set(done, held);
    await done;
  };

  const concurrency = platform.config.WORKER_CONCURRENCY;
  // Work that could not even be begun waits on; the reconciler queues it again.
  const attend = (queued: QueuedWork) =>
    work(queued).catch((error: unknown) =>
      platform.log.warn({ err: error, id: queued.workId }, 'An operation could not be begun'),
    );
  await queue.work(attend, { concurrency, perTenant: Math.max(1, Math.floor(concurrency / 2)) });

  return {
    async stop() {
      stopping = true;
      queue.stopWork();
      await Promise.race([Promise.all(running.keys()), setTimeout(options.patience, undefined, { ref: false })]);
      for (const held of running.values()) held.abort(new Interrupted('The worker shuts down'));
      await Promise.all(running.keys());
    },
  };
}

/** One attempt, from its claim to its record. It never throws: what cannot be recorded now is found by the reconciler. */
async function carryOut(
  platform: Platform,
  handlers: Handlers,
  claim: Claim,
  held: Lease,
  isStopping: () => boolean,
): Promise<void> {
  const log = platform.log.child({ operation: claim.operation, id: claim.workId, attempt: claim.attempt });
  let prepared: Prepared | undefined;
  try {
    const handler = handlers[claim.operation];
    if (!handler) throw new Error(`No handler is registered for ${claim.operation}`);
    prepared = await handler.run({ ...claim, signal: held.signal, progress: held.progress }, platform);
    await held.release();
    await publish(platform, claim, prepared);
    log.info({ duration: Date.now() - claim.startedAt.getTime() }, 'An operation succeeded');
  } catch (error) {
    await held.release();
    const reason = held.signal.aborted ? held.signal.reason : error;
    await whenBack(endOf(platform, handlers, claim, reason, log), isStopping).catch((failure) =>
      log.error({ err: failure }, 'The end of an operation could not be recorded'),
    );
  } finally {
    await prepared?.release?.();
  }
}

/** Publishes and records the success in one transaction, if the attempt is still the current one. */
async function publish(platform: Platform, claim: Claim, prepared: Prepared): Promise<void> {
  await platform.database.transaction(claim.tenantId, async (tx) => {
    const standing = await lockLease(tx, claim);
    if (standing === 'lost') throw new Superseded();
    if (standing === 'cancelled') throw cancelled();
    await finish(platform, tx, claim, { status: 'succeeded', result: await prepared.publish(tx) });
  });
}

/** How an attempt that did not succeed is recorded. The log is told at once. */
function endOf(
  platform: Platform,
  handlers: Handlers,
  claim: Claim,
  reason: unknown,
  log: Platform['log'],
): () => Promise<void> {
  if (reason instanceof Superseded) {
    log.warn('An operation was taken over by another attempt');
    return async () => {};
  }
  if (reason instanceof ApiError && reason.code === 'CANCELLED')
    return () => record(platform, handlers, claim, { status: 'cancelled', error: failureOf(reason) });
  if (reason instanceof Interrupted || isOurDatabaseAway(reason)) {
    log.warn({ err: reason }, 'An operation was interrupted');
    return () => restart(platform, handlers, claim);
  }
  if (reason instanceof ApiError) log.info({ code: reason.code }, 'An operation failed');
  else log.error({ err: reason }, 'An operation failed');
  return () => record(platform, handlers, claim, { status: 'failed', error: failureOf(reason) });
}

/** Records when Postgres answers. One that restarts is soon back, and whoever waits for the work need not wait for the reconciler; a shutdown leaves it to that. */
async function whenBack(recordEnd: () => Promise<void>, isStopping: () => boolean): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await recordEnd();
    } catch (error) {
      if (!isOurDatabaseAway(error) || isStopping() || tried === TRIES) throw error;
      await setTimeout(TRY_EVERY);
    }
  }
}

const isOurDatabaseAway = (error: unknown): boolean =>
  isConnectionLoss(error) || (error instanceof ApiError && error.status === 503 && isConnectionLoss(error.cause));
