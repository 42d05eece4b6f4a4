import type { ModelTier } from '../../core/ai.ts';
import type { Transaction } from '../../core/platform.ts';
import { creditsOf } from '../../core/usage.ts';
import { reserveCredits } from '../usage/credit-reservation.ts';

/** The reservation of a run at its start; null for a provider of the owner, whose use is not metered. */
export type RunPrice = { credits: string; tier: ModelTier } | null;

/** The credits of a run itself. */
export const RUN_CREDITS = creditsOf('agent_run', '1');

/**
 * Reserves the credits of a run and its first call of a model, or renews what is reserved for it. Throws like
 * `reserveCredits`.
 */
export async function reserveRun(
  tx: Transaction,
  {
    tenantId,
    agentId,
    ownerId,
    agentRunId,
  }: { tenantId: string; agentId: string; ownerId: string; agentRunId: string },
  price: RunPrice,
): Promise<void> {
  if (price)
    await reserveCredits(tx, { tenantId }, { id: agentRunId, actor: `agent:${agentId}`, payer: ownerId, ...price });
}
