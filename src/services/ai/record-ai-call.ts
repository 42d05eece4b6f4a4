import type { ModelKind } from '../../core/ai.ts';
import type { OperationFailure } from '../../core/operations.ts';
import type { SecretBox, Transaction } from '../../core/platform.ts';
import type { Usage, UsageEntityType } from '../../core/usage.ts';
import type { UsageActor } from '../usage/effective-profile.ts';
import { meter } from '../usage/usage-meter.ts';
import type { AiPrice } from './ai-price.ts';
import type { ChosenModel } from './choose-model.ts';

/** Longer prompts are cut in the audit. */
const MAX_PROMPT_CHARACTERS = 100_000;

/** How a call ended. Only one that succeeded is charged. */
export type AiCallOutcome =
  | { status: 'succeeded'; price: AiPrice; inputTokens?: number; outputTokens?: number }
  | { status: 'failed' | 'cancelled'; error: OperationFailure };

/** A call of an AI provider that has ended. */
export interface AiCallRecord {
  /** Id of the row in the audit. The key of the charge is `ai:<id>`. */
  id: string;
  actor: UsageActor;
  /** The user who called, or who owns the agent. */
  userId: string;
  action: ModelKind;
  /** What the call is charged to. */
  entity: { type: UsageEntityType; id: string };
  provider: ChosenModel['provider'];
  /** Id of the model. */
  model: string;
  size: string | null;
  /** Milliseconds. */
  duration: number;
  /** Of `sealPrompt`. */
  sealedPrompt: string;
}

/** Encrypts a prompt for the audit. Longer ones are cut. */
export const sealPrompt = ({ secrets }: { secrets: Pick<SecretBox, 'seal'> }, prompt: string): string =>
  secrets.seal(prompt.slice(0, MAX_PROMPT_CHARACTERS).toWellFormed());

/**
 * Records a call in the audit and, if it succeeded with a provider of the tenant, its charge in the usage ledger, in one
 * transaction. `furtherUsage` is metered by the same call of `meter`, which a transaction has once. Recording a call again
 * changes nothing.
 */
export function recordAiCall(
  tx: Pick<Transaction, 'execute'>,
  owner: { tenantId: string },
  call: AiCallRecord,
  outcome: AiCallOutcome,
  furtherUsage: readonly Usage[] = [],
): void {
  const charge = outcome.status === 'succeeded' && !call.provider.isOwn ? outcome : null;
  insertCall(tx, owner, call, outcome, charge?.price.credits ?? null);
  meter(owner, tx, [...(charge ? [usageOf(call, charge)] : []), ...furtherUsage]);
}

function usageOf(
  { id, actor, action, entity, provider, model, size }: AiCallRecord,
  { price, inputTokens, outputTokens }: Extract<AiCallOutcome, { status: 'succeeded' }>,
): Usage {
  return {
    key: `ai:${id}`,
    resource: 'ai',
    quantity: price.dollars,
    actor,
    entityType: entity.type,
    entityId: entity.id,
    metadata: { action, providerId: provider.id, model, ...(size !== null && { size }), inputTokens, outputTokens },
  };
}

function insertCall(
  tx: Pick<Transaction, 'execute'>,
  { tenantId }: { tenantId: string },
  call: AiCallRecord,
  outcome: AiCallOutcome,
  credits: string | null,
): void {
  const tokens = outcome.status === 'succeeded' ? outcome : undefined;
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
      outcome.status,
      outcome.status === 'succeeded' ? null : JSON.stringify(outcome.error),
      credits,
      call.sealedPrompt,
    ],
  });
}
