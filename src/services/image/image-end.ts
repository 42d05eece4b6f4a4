import { cancelled } from '../../core/errors.ts';
import type { OperationEnd } from '../../core/operation-ends.ts';
import type { ImageCreateInput } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import { recordAiCall } from '../ai/record-ai-call.ts';
import { endCall, type SentCallEnd } from '../ai/sent-call.ts';
import { failureOf, type Claim } from '../operation/operation-repository.ts';
import { releaseCredits } from '../usage/credit-reservation.ts';

type StartedImage = Pick<Claim<'image.create'>, 'tenantId' | 'userId' | 'input' | 'startedAt'>;

/** Ends a cancelled image: its reservation, and its call once that may have been sent. */
export const imageEnd: OperationEnd<'image.create'> = {
  async cancelled(tx, operation) {
    const { startedAt, input } = operation;
    if (startedAt) await recordUnpublished({ ...operation, startedAt }, { status: 'cancelled', error: CANCELLED }, tx);
    else releaseCredits(tx, operation, input.callId);
  },
};

const CANCELLED = failureOf(cancelled());

type ImageOutcome = Pick<SentCallEnd, 'status' | 'error'>;

/** Returns how a call ended. An image has one price, whatever the provider states. */
export const endOf = (outcome: ImageOutcome, state: SentCallEnd['state'] = 'sent'): SentCallEnd => ({
  ...outcome,
  state,
  stated: null,
  tokens: null,
});

/** Charges and records a call that was sent, or records one that was not, and ends its reservation. */
export async function recordUnpublished(claim: StartedImage, outcome: ImageOutcome, tx: Transaction): Promise<void> {
  const { callId } = claim.input;
  if ((await endCall(tx, claim, callId, endOf(outcome))) !== undefined) return;
  releaseCredits(tx, claim, callId);
  const duration = Date.now() - claim.startedAt.getTime();
  // Changes nothing if the call is already in the audit.
  recordAiCall(tx, claim, { ...recordOf(claim), duration }, { ...outcome, price: null, tokens: null });
}

/** Returns the record of the call for the audit log. */
export const recordOf = ({ userId, input }: Pick<StartedImage, 'userId'> & { input: ImageCreateInput }) => ({
  id: input.callId,
  actor: `user:${userId}` as const,
  userId,
  action: 'image' as const,
  entity:
    input.assistantId === null
      ? { type: 'user' as const, id: userId }
      : { type: 'assistant' as const, id: input.assistantId },
  provider: input.provider,
  model: input.model,
  size: input.size,
  sealedPrompt: input.sealedPrompt,
});
