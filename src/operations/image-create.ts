import { cancelled } from '../core/errors.ts';
import type { ImageCreateInput } from '../core/operations.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import { findChosenModel } from '../services/ai/choose-model.ts';
import { recordAiCall, type AiCallOutcome } from '../services/ai/record-ai-call.ts';
import { reserveImage } from '../services/image/image-request.ts';
import { insertImage, saveImage } from '../services/image/store-image.ts';
import { createJobContext } from '../services/job/job-context.ts';
import { failureOf, type Claim } from '../services/operation/operation-repository.ts';
import { deleteUnreferenced } from '../services/resource/stored-file.ts';
import { releaseCredits, settleCredits } from '../services/usage/credit-reservation.ts';
import type { Handler, Job, Prepared } from './handler.ts';

type ImageClaim = Claim<'image.create'>;

/**
 * Creates an image as the user who requested it. It is charged in the transaction that publishes it. An image whose worker
 * dies is not requested again: the provider may have created it already, at the cost of the tenant.
 */
export const imageCreate: Handler<'image.create'> = {
  takeover: false,
  run: createImage,
  onFailure: async (claim, failure, tx) => recordUncharged(claim, { status: 'failed', error: failure }, tx),
  onCancel: async (claim, tx) => recordUncharged(claim, { status: 'cancelled', error: CANCELLED }, tx),
};

const CANCELLED = failureOf(cancelled());

async function createImage(job: Job<'image.create'>, platform: Platform): Promise<Prepared<'image.create'>> {
  const { tenantId, userId, input, signal } = job;
  const { provider, model, size, price, sealedPrompt } = input;
  const ctx = await createJobContext(platform, tenantId, `user:${userId}`, signal);
  const { endpoint } = await findChosenModel(ctx, { providerId: provider.id, model, size, userId });
  // The request may have waited longer than a reservation lasts.
  await ctx.transaction((tx) => reserveImage(tx, { tenantId }, userId, input));
  job.progress({ message: 'Creating the image' });
  const prompt = platform.secrets.open(sealedPrompt, 'the prompt of the image');
  const bytes = await platform.ai.createImage(endpoint, { model, prompt, size }, signal);
  const saved = await saveImage(ctx, bytes);
  return {
    async publish(tx) {
      const result = await insertImage(tx, platform, { tenantId, userId }, input, saved);
      settleCredits(tx, { tenantId }, input.callId);
      recordAiCall(tx, { tenantId }, recordOf(job), { status: 'succeeded', price });
      return result;
    },
    release: () => deleteUnreferenced(ctx, [saved.id]),
  };
}

/** Ends the reservation and records the call in the audit, without a charge. */
function recordUncharged(
  claim: ImageClaim,
  outcome: Exclude<AiCallOutcome, { status: 'succeeded' }>,
  tx: Transaction,
): void {
  releaseCredits(tx, claim, claim.input.callId);
  recordAiCall(tx, claim, recordOf(claim), outcome);
}

const recordOf = ({
  userId,
  startedAt,
  input,
}: Pick<ImageClaim, 'userId' | 'startedAt'> & { input: ImageCreateInput }) => ({
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
  duration: Date.now() - startedAt.getTime(),
  sealedPrompt: input.sealedPrompt,
});
