import type { AiCallStatus, AiCallTrace, ModelKind } from '../../core/ai.ts';
import type { OperationFailure } from '../../core/operations.ts';
import type { SecretBox, Transaction } from '../../core/platform.ts';
import type { Usage, UsageEntityType } from '../../core/usage.ts';
import type { UsageActor } from '../usage/effective-profile.ts';
import { meter } from '../usage/usage-meter.ts';
import type { AiPrice } from './ai-price.ts';
import type { ChosenModel } from './choose-model.ts';

/** Longer prompts are cut in the audit. */
const MAX_PROMPT_CHARACTERS = 100_000;

/** How a call ended, and its charge; null for none. */
export interface AiCallOutcome {
  status: AiCallStatus;
  /** Why it did not succeed; null for a success. */
  error: OperationFailure | null;
  price: AiPrice | null;
  /** As the provider stated them; null if it did not. */
  tokens: AiCallTrace['tokens'];
}

/** A call of an AI provider that has ended. */
export interface AiCallRecord {
  /** Id of the row in the audit. The key of the charge is `ai:<id>`. */
  id: string;
  actor: UsageActor;
  /** The user who called, or who owns the agent, and who pays. */
  userId: string;
  action: ModelKind;
  /** The entity that is charged for the call. */
  entity: { type: UsageEntityType; id: string };
  provider: ChosenModel['provider'];
  /** Id of the model. */
  model: string;
  size: string | null;
  /** Milliseconds. */
  duration: number;
  /** The result of `sealPrompt`. */
  sealedPrompt: string;
}

/** Encrypts a prompt for the audit. Longer ones are cut. */
export const sealPrompt = ({ secrets }: { secrets: Pick<SecretBox, 'seal'> }, prompt: string): string =>
  secrets.seal(prompt.slice(0, MAX_PROMPT_CHARACTERS).toWellFormed());

/**
 * Records a call in the audit and, if it has a price and is of a provider of the tenant, its charge in the usage ledger, in
 * one transaction. `furtherUsage` is charged with it, by the same call of `meter`, which a transaction has once. Recording a
 * call again changes nothing. Returns the price that is charged; null for none.
 */
export function recordAiCall(
  tx: Pick<Transaction, 'execute'>,
  owner: { tenantId: string },
  call: AiCallRecord,
  outcome: AiCallOutcome,
  furtherUsage: readonly Usage[] = [],
): AiPrice | null {
  const price = call.provider.isOwn ? null : outcome.price;
  insertCall(tx, owner, call, outcome, price?.credits ?? null);
  if (price) meter(owner, tx, [usageOf(call, price, outcome), ...furtherUsage]);
  return price;
}

function usageOf(
  { id, actor, userId, action, entity, provider, model, size }: AiCallRecord,
  { dollars }: AiPrice,
  { tokens }: AiCallOutcome,
): Usage {
  return {
    key: `ai:${id}`,
    resource: 'ai',
    quantity: dollars,
    actor,
    payer: userId,
    entityType: entity.type,
    entityId: entity.id,
    metadata: { action, providerId: provider.id, model, ...(size !== null && { size }), ...tokens },
  };
}

function insertCall(
  tx: Pick<Transaction, 'execute'>,
  { tenantId }: { tenantId: string },
  call: AiCallRecord,
  { status, error, tokens }: AiCallOutcome,
  credits: string | null,
): void {
  tx.execute({
    text: `
      insert into dws.ai_call (tenant_id, id, actor, user_id, action, entity_type, entity_id, provider_id, provider_name,
        own_provider, model, size, input_tokens, output_tokens, duration, status, error, credits, sealed_prompt)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
      on conflict (id) do nothing`,
    values: [
      tenantId,
      call.id,
      call.actor,
      call.userId,
      call.action,
      call.entity.type,
      call.entity.id,
      call.provider.id,
      call.provider.name,
      call.provider.isOwn,
      call.model,
      call.size,
      tokens?.inputTokens ?? null,
      tokens?.outputTokens ?? null,
      Math.round(call.duration),
      status,
      error && JSON.stringify(error),
      credits,
      call.sealedPrompt,
    ],
  });
}
