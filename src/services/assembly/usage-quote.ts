import type { UsageQuoteInput } from '../../../entities/usage-quote-input.ts';
import type { QuoteAction } from '../../core/ai.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/input-checks.ts';
import { requireUser } from '../../core/viewer.ts';
import { quoteAgentRun } from '../agent/agent-quote.ts';
import { priceImage } from '../image/image-request.ts';
import type { CreditRequest } from '../usage/credit-reservation.ts';
import { creditRefusal, readCreditUse, type Spender } from '../usage/credit-use.ts';

/** The current price of an action. Credits are decimals. */
export interface UsageQuote {
  credits: string;
  /** The rest of the limit of this month. Null: no limit. */
  remaining: string | null;
  allowed: boolean;
  /** Why it is not allowed; null if it is. */
  reason: string | null;
}

/** Functions that return the quote of an action. For a missing object they throw as the action does. */
const QUOTES: Readonly<Record<QuoteAction, (ctx: Context, input: UsageQuoteInput) => Promise<UsageQuote>>> = {
  image: quoteImage,
  agentRun: quoteAgent,
};

/**
 * Returns the current price of an action, by the functions that price the action itself. Reserves and calls nothing.
 */
export const quoteUsage = (ctx: Context, input: UsageQuoteInput): Promise<UsageQuote> =>
  QUOTES[input.action](ctx, input);

async function quoteImage(ctx: Context, { model, size, agentId }: UsageQuoteInput): Promise<UsageQuote> {
  if (agentId != null) throw invalid('agentId', 'must not be set for the action image');
  const userId = requireUser(ctx.viewer);
  const { chosen, price } = await priceImage(ctx, { model, size }, userId);
  const request = chosen.provider.isOwn ? null : { credits: price.credits, tier: chosen.model.tier };
  return quoteCredits(ctx, { actor: `user:${userId}`, payer: userId }, request);
}

async function quoteAgent(ctx: Context, { model, size, agentId }: UsageQuoteInput): Promise<UsageQuote> {
  if (agentId == null) throw invalid('agentId', 'is required for the action agentRun');
  for (const [name, value] of Object.entries({ model, size }))
    if (value != null) throw invalid(name, 'must not be set for the action agentRun');
  const { spender, price } = await quoteAgentRun(ctx, agentId);
  return quoteCredits(ctx, spender, price);
}

/** Returns the quote of a request for credits; `request` is null for an action that is not metered. */
async function quoteCredits(
  ctx: Context,
  spender: Spender,
  request: Pick<CreditRequest, 'credits' | 'tier'> | null,
): Promise<UsageQuote> {
  const use = await readCreditUse(ctx, ctx.viewer, spender);
  const refusal = request && creditRefusal(use, request);
  return {
    credits: request?.credits ?? '0',
    remaining: use.remaining,
    allowed: !refusal,
    reason: refusal?.message ?? null,
  };
}
