import type { Agent } from '../../../entities/agent.ts';
import { ApiError, conflict } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import { openOwnedRun } from './agent-context.ts';
import type { RunPrice } from './agent-credits.ts';
import { firstMessages } from './agent-messages.ts';
import { chooseAgentModel, requestOf, startPrice } from './agent-model-call.ts';
import { createToolBox } from './tools/tool-box.ts';

/** Input of the start of a run. */
export interface RunStart {
  eventName: string | null;
  payload: unknown;
  depth: number;
}

/**
 * Returns the reservation of a run of an agent at its start. Throws CONFLICT if its owner cannot run it, or no AI
 * provider has a chat model.
 */
export async function priceRun(
  platform: Platform,
  { tenantId, id: agentId, ownerId }: Pick<Agent, 'tenantId' | 'id' | 'ownerId'>,
  start: RunStart,
  signal: AbortSignal,
): Promise<RunPrice> {
  const { ctx, agent } = await openOwnedRun(platform, { tenantId, agentId, ownerId }, signal).catch(
    (error: unknown) => {
      const isRefused = error instanceof ApiError && error.status === 403;
      throw isRefused ? conflict(`The owner cannot run the agent: ${error.message}`) : error;
    },
  );
  const chosen = await chooseAgentModel(ctx, agent);
  const { tools } = await createToolBox(ctx, agent.assistant, start.depth);
  return startPrice(chosen, requestOf(chosen, firstMessages(agent, start), tools));
}
