import { newCallTrace } from '../core/ai.ts';
import { retryWhileUnavailable } from '../core/database-unavailable.ts';
import { cancelled } from '../core/errors.ts';
import type { ImageCreateInput } from '../core/operations.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import { findChosenModel } from '../services/ai/choose-model.ts';
import { recordAiCall } from '../services/ai/record-ai-call.ts';
import { endCall, sendCall, type SentCallEnd } from '../services/ai/sent-call.ts';
import { reserveImage } from '../services/image/image-request.ts';
import { insertImage, saveImage } from '../services/image/store-image.ts';
import { createJobContext } from '../services/job/job-context.ts';
import { failureOf, type Claim } from '../services/operation/operation-repository.ts';
import { deleteUnreferenced } from '../services/resource/stored-file.ts';
import { releaseCredits } from '../services/usage/credit-reservation.ts';
import type { Handler, Job, Prepared } from './handler.ts';

type ImageClaim = Claim<'image.create'>;

/**
 * Creates an image as the user who requested it. It is charged in the transaction that publishes it, or once it was sent in
 * that which records its failure. An image whose worker dies is not requested again: the provider may have created it
 * already, at the cost of the tenant.
 */
export const imageCreate: Handler<'image.create'> = {
  takeover: false,
  run: createImage,
  onFailure: (claim, failure, tx) => recordUnpublished(claim, { status: 'failed', error: failure }, tx),
  onCancel: (claim, tx) => recordUnpublished(claim, { status: 'cancelled', error: CANCELLED }, tx),
};

const CANCELLED = failureOf(cancelled());

async function createImage(job: Job<'image.create'>, platform: Platform): Promise<Prepared<'image.create'>> {
  const { tenantId, userId, workId, input, signal } = job;
  const { provider, model, size, price, callId, sealedPrompt } = input;
  const ctx = await createJobContext(platform, tenantId, `user:${userId}`, signal);
  const { endpoint } = await findChosenModel(ctx, { providerId: provider.id, model, size, userId });
  job.progress({ message: 'Creating the image' });
  const prompt = platform.secrets.open(sealedPrompt, 'the prompt of the image');
  const beforeSend = () =>
    ctx.transaction(async (tx) => {
      // The request may have waited longer than a reservation lasts.
      await reserveImage(tx, { tenantId }, userId, input);
      const call = { record: recordOf(job), price, furtherUsage: [], agentRunId: null };
      sendCall(tx, { tenantId }, { reservationId: callId, workId }, call);
    });
  const trace = newCallTrace();
  const request = { model, prompt, size };
  const bytes = await platform.ai.createImage(endpoint, request, signal, trace, beforeSend).catch(async (error) => {
    const end = endOf({ status: 'failed', error: failureOf(error) }, trace.state);
    // What was sent is charged with the outcome. What was not, or was refused, must not become that.
    const recordEnd = () => platform.database.transaction(tenantId, (tx) => endCall(tx, job, callId, end));
    if (trace.state !== 'sent') await retryWhileUnavailable(recordEnd, () => signal.aborted);
    throw error;
  });
  const saved = await saveImage(ctx, bytes);
  return {
    async publish(tx) {
      const result = await insertImage(tx, platform, { tenantId, userId }, input, saved);
      await endCall(tx, { tenantId }, callId, endOf({ status: 'succeeded', error: null }));
      return result;
    },
    release: () => deleteUnreferenced(ctx, [saved.id]),
  };
}

type ImageOutcome = Pick<SentCallEnd, 'status' | 'error'>;

/** Returns how a call ended. An image has one price, whatever the provider states. */
const endOf = (outcome: ImageOutcome, state: SentCallEnd['state'] = 'sent'): SentCallEnd => ({
  ...outcome,
  state,
  stated: null,
  tokens: null,
});

/** Charges and records a call that was sent, or records one that was not, and ends its reservation. */
async function recordUnpublished(claim: ImageClaim, outcome: ImageOutcome, tx: Transaction): Promise<void> {
  const { callId } = claim.input;
  if ((await endCall(tx, claim, callId, endOf(outcome))) !== undefined) return;
  releaseCredits(tx, claim, callId);
  const duration = Date.now() - claim.startedAt.getTime();
  // Changes nothing if the call is in the audit already.
  recordAiCall(tx, claim, { ...recordOf(claim), duration }, { ...outcome, price: null, tokens: null });
}

const recordOf = ({ userId, input }: Pick<ImageClaim, 'userId'> & { input: ImageCreateInput }) => ({
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
