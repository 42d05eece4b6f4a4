import { newCallTrace } from '../core/ai.ts';
import { retryWhileUnavailable } from '../core/database-unavailable.ts';
import type { Platform } from '../core/platform.ts';
import { findChosenModel } from '../services/ai/choose-model.ts';
import { endCall, sendCall } from '../services/ai/sent-call.ts';
import { endOf, recordOf, recordUnpublished } from '../services/image/image-end.ts';
import { reserveImage } from '../services/image/image-request.ts';
import { insertImage, saveImage } from '../services/image/store-image.ts';
import { createJobContext } from '../services/job/job-context.ts';
import { failureOf } from '../services/operation/operation-repository.ts';
import { deleteUnreferenced } from '../services/resource/stored-file.ts';
import type { Handler, RunningClaim, Prepared } from './handler.ts';

/**
 * Creates an image as the user who requested it. It is charged in the transaction that publishes it, or once it was sent in
 * that which records its failure. An image whose worker dies is not requested again: the provider may have created it
 * already, at the cost of the tenant.
 */
export const imageCreate: Handler<'image.create'> = {
  takeover: false,
  run: createImage,
  onFailure: (claim, failure, tx) => recordUnpublished(claim, { status: 'failed', error: failure }, tx),
};

async function createImage(job: RunningClaim<'image.create'>, platform: Platform): Promise<Prepared<'image.create'>> {
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
    // A sent call is charged with the outcome. A call that was refused or not sent must not be charged.
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
