import type { Context } from '../core/context.ts';
import type { OperationQueue } from '../core/platform.ts';
import { hold } from './operation-hold.ts';
import { claim, failureOf, finish, holdStill, type Outcome, type Progress } from './operation-work.ts';
import { start, type OperationRequest } from './operation.ts';

/** Milliseconds between the signs of life of work in the called process. A record without them is recorded failed by the reconciler. */
const HEARTBEAT = 5000;

/** Nobody else is told of work that the called process does itself. */
const NOBODY: OperationQueue = { send: async () => {} };

/**
 * Does a piece of work in the called process, with a record that its caller can follow and cancel under the name they gave it (contract 6). Without a name there
 * is no record. `signal` aborts when it is cancelled.
 */
export async function inline<T>(ctx: Context, request: Omit<OperationRequest, 'lane' | 'fingerprint'>, work: (signal: AbortSignal, progress: (update: Progress) => void) => Promise<T>): Promise<T> {
  if (request.progress === null || request.progress === undefined) return work(new AbortController().signal, () => {});
  const { platform, viewer } = ctx;
  const workId = await ctx.transaction((tx) => start({ viewer, platform: { ...platform, queue: NOBODY } }, tx, request));
  const claimed = (await claim(platform, { workId, tenantId: viewer.tenantId }))!;
  const held = hold(platform, claimed, HEARTBEAT);
  const end = async (outcome: Outcome) => {
    await held.release();
    await ctx.transaction(async (tx) => { if (await holdStill(tx, claimed) !== 'lost') await finish(platform, tx, claimed, outcome); });
  };
  try {
    const result = await work(held.signal, held.progress);
    await end({ status: 'succeeded', result });
    return result;
  } catch (error) {
    const reason = held.signal.aborted ? held.signal.reason : error;
    const failure = failureOf(reason);
    await end({ status: failure.code === 'CANCELLED' ? 'cancelled' : 'failed', error: failure });
    throw reason;
  }
}
