import { AgentRun } from '../../../entities/agent-run.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { cancelById } from '../operation/operation.ts';
import { loadAgent } from './agent.ts';

/**
 * Cancels a run of an agent, including a run of another user or an event. Returns its id. Throws CONFLICT if it has
 * ended.
 */
export async function cancel(ctx: Context, agentId: string, runId: string): Promise<string> {
  const { id, operationId } = await ctx.transaction(async (tx) => {
    const agent = await loadAgent(ctx, tx, agentId, 'agent:run');
    const run = isUuid(runId) ? await tx.findOne(AgentRun, { id: runId.toLowerCase(), agentId: agent.id }) : null;
    if (!run) throw notFound({ what: 'run of the agent', id: runId });
    return run;
  });
  // A run that stands for refused events has none.
  if (!operationId) throw conflict('The run has already ended');
  await cancelById(ctx, operationId);
  return id;
}
