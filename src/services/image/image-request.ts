import type { CreateImageInput } from '../../../entities/image-input.ts';
import { ASSISTANT } from '../../../entities/owned-kinds.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { forbidden } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import type { ImageCreateInput } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import { requireUser, type Viewer } from '../../core/viewer.ts';
import { imagePrice, type AiPrice } from '../ai/ai-price.ts';
import { chooseModel, type ChosenModel, type ModelSource } from '../ai/choose-model.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { loadUsedResource } from '../resource/load-resource.ts';
import { loadBytesLeft } from '../resource/quota.ts';
import { reserveCredits } from '../usage/credit-reservation.ts';

/** The image that a client gets, in addition to its prompt. */
export interface ImageResult {
  id: string;
  url: string;
  model: string;
  size: string | null;
  createdAt: string;
}

/** The options of a request for an image, in addition to its input. */
interface ImageOptions {
  /** Id, slug or natural id of its assistant; null for none. */
  assistant: string | null;
  progress: string | null | undefined;
  wait: boolean;
}

/**
 * Requests an image. Its credits are reserved, and everything else is checked, before the provider is called. Returns the
 * operation, finished if the caller waits. Throws FORBIDDEN for a tier that is not allowed, CREDITS_SPENT past the cap,
 * CONFLICT if no provider has an image model, BAD_USER_INPUT for an unknown model or size.
 */
export async function requestImage(
  ctx: Context,
  { prompt, ...wanted }: CreateImageInput,
  { assistant: key, progress, wait }: ImageOptions,
): Promise<OperationRecord> {
  const { viewer, platform } = ctx;
  const userId = requireUser(viewer);
  if (!viewer.superuser && !viewer.permissions.has('ai:access')) throw forbidden({ permission: 'ai:access' });
  return startInTransaction(ctx, wait, async (tx) => {
    const assistant = key === null ? null : await loadUsedResource(ctx, tx, ASSISTANT, key, 'assistant:write');
    const { chosen, price } = await priceImage({ query: tx.query, viewer, platform }, wanted, userId);
    await loadBytesLeft(tx, viewer.tenantId, platform.config.TENANT_QUOTA_BYTES);
    const input: ImageCreateInput = {
      imageId: newId(),
      callId: newId(),
      assistantId: assistant?.id ?? null,
      provider: chosen.provider,
      model: chosen.model.id,
      tier: chosen.model.tier,
      size: chosen.size,
      price,
      sealedPrompt: platform.secrets.seal(prompt),
    };
    recordAuditTarget(ctx.request, 'image', null, input.imageId);
    const operationId = await operations.start(ctx, tx, {
      operation: 'image.create',
      resource: assistant ? { kind: 'assistant', id: assistant.id } : { kind: 'image', id: input.imageId },
      progress: progress ?? null,
      input,
    });
    // The order of `lockKey`.
    await reserveImage(tx, viewer, userId, input);
    return operationId;
  });
}

/** Returns the model of an image and its price, which a quote and the call have in common. */
export async function priceImage(
  source: ModelSource,
  { model, size }: Pick<CreateImageInput, 'model' | 'size'>,
  userId: string,
): Promise<{ chosen: ChosenModel; price: AiPrice }> {
  const chosen = await chooseModel(source, { kind: 'image', model, size, userId });
  return { chosen, price: imagePrice(chosen.model) };
}

/** Reserves the credits of an image, or renews their reservation. Does nothing with the user's own provider. */
export async function reserveImage(
  tx: Pick<Transaction, 'query' | 'execute'>,
  { tenantId }: Pick<Viewer, 'tenantId'>,
  userId: string,
  { callId, provider, price, tier }: Pick<ImageCreateInput, 'callId' | 'provider' | 'price' | 'tier'>,
): Promise<void> {
  if (provider.isOwn) return;
  await reserveCredits(
    tx,
    { tenantId },
    { id: callId, actor: `user:${userId}`, payer: userId, credits: price.credits, tier },
  );
}
