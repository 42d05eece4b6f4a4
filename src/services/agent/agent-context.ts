import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import { levelAllows } from '../../core/permissions.ts';
import type { Platform } from '../../core/platform.ts';
import { createJobContext } from '../job/job-context.ts';
import { accessLevel } from '../resource/access-level.ts';

/** The request of a run. */
export interface RunSubject {
  tenantId: string;
  agentId: string;
  /** The owner of the agent when the run was requested. */
  ownerId: string;
}

/** An agent with the model and tools of its assistant. */
export interface RunningAgent {
  id: string;
  instructions: string | null;
  /** Whether the owner has accepted it as it is here. */
  accepted: boolean;
  assistant: {
    id: string;
    ownerId: string;
    instructions: string | null;
    model: string | null;
    toolkitIds: string[];
    datasetIds: string[];
  };
}

/** An agent with the context of its owner. */
export interface OwnedRun {
  ctx: Context;
  agent: RunningAgent;
}

/**
 * Returns an agent, and a context that acts as its owner and ends with `signal`. Throws FORBIDDEN with a sentence if
 * the owner was disabled, may no longer run the assistant, or no longer owns the agent.
 */
export async function openOwnedRun(platform: Platform, subject: RunSubject, signal: AbortSignal): Promise<OwnedRun> {
  const { tenantId, agentId, ownerId } = subject;
  const ctx = await createJobContext(platform, tenantId, `user:${ownerId}`, signal);
  const [agent] = await ctx.query<RunningAgent & Record<string, unknown>>({
    text: `
      select a.id, a.instructions, a.accepted,
        json_build_object('id', s.id, 'ownerId', s.owner_id, 'instructions', s.instructions, 'model', s.model,
          'toolkitIds', s.toolkit_ids, 'datasetIds', s.dataset_ids) as assistant
      from dws.agent a
      join dws.assistant s on s.tenant_id = $1 and s.id = a.assistant_id
      where a.tenant_id = $1 and a.id = $2 and a.owner_id = $3`,
    values: [tenantId, agentId, ownerId],
  });
  if (!agent) throw refused('The agent was deleted or got another owner after the run was requested');
  if (!levelAllows(await accessLevel(ctx, agent.assistant), 'assistant:run'))
    throw refused('The owner may no longer run the assistant');
  return { ctx, agent };
}
