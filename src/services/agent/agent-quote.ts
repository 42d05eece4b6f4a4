import type { Agent } from '../../../entities/agent.ts';
import type { Context } from '../../core/context.ts';
import type { Spender } from '../usage/credit-use.ts';
import { requireAccepted } from './agent-acceptance.ts';
import type { RunPrice } from './agent-credits.ts';
import { priceRun } from './agent-price.ts';
import { loadAgent } from './agent.ts';

/**
 * Returns the reservation of a run of an agent with an empty payload at its start, and the user who pays. Throws like a
 * run: NOT_FOUND, FORBIDDEN without `agent:run`, CONFLICT if its owner cannot run it or has not accepted it.
 */
export async function quoteAgentRun(ctx: Context, agentId: string): Promise<{ spender: Spender; price: RunPrice }> {
  const agent: Agent = await ctx.transaction((tx) => loadAgent(ctx, tx, agentId, 'agent:run'));
  // Errors about another user's model would name that owner's own providers.
  requireAccepted(ctx, agent);
  const start = { eventName: null, payload: null, depth: 1 };
  return {
    spender: { actor: `agent:${agent.id}`, payer: agent.ownerId },
    price: await priceRun(ctx.platform, agent, start, ctx.request.signal),
  };
}
