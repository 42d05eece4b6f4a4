import { cancelled } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import {
  failureOf,
  finish,
  requeue,
  lockLease,
  type Claim,
  type Outcome,
} from '../services/operation/operation-repository.ts';
import { DIED, MAX_ATTEMPTS, type Handlers } from './handler.ts';

const CANCELLED = { status: 'cancelled', error: failureOf(cancelled()) } as const;

/** Records a failure or a cancellation of this attempt; does nothing when the work is another's. What its caller cancelled is cancelled, whatever else went wrong. */
export async function record(
  platform: Platform,
  handlers: Handlers,
  claim: Claim,
  outcome: Exclude<Outcome, { status: 'succeeded' }>,
): Promise<void> {
  await platform.database.transaction(claim.tenantId, async (tx) => {
    const standing = await lockLease(tx, claim);
    if (standing === 'lost') return;
    const ended = standing === 'cancelled' ? CANCELLED : outcome;
    if (ended.status === 'failed') await handlers[claim.operation]?.failed?.(claim, ended.error, tx);
    else await handlers[claim.operation]?.cancelled?.(claim, tx);
    await finish(platform, tx, claim, ended);
  });
}

/** What becomes of work that nobody does any more: begun again where that is allowed, otherwise recorded failed. */
export async function restart(platform: Platform, handlers: Handlers, claim: Claim): Promise<void> {
  const again = handlers[claim.operation]?.takeover && claim.attempt < MAX_ATTEMPTS;
  if (again && (await requeue(platform, claim)) !== 'cancelled') return;
  await record(platform, handlers, claim, { status: 'failed', error: DIED });
}
