import type { AgentStep } from '../../../entities/agent-run.ts';
import type { Platform, Transaction } from '../../core/platform.ts';

/** A run that is executed. */
export interface BegunRun extends Record<string, unknown> {
  /** Id of the run's operation. */
  workId: string;
  id: string;
  tenantId: string;
  agentId: string;
  eventName: string | null;
  /** Id of the app that raised the event. */
  eventAppId: string | null;
  payload: unknown;
  depth: number;
}

/** Marks a queued run as running and returns it. Returns null if it was deleted or has ended. */
export async function beginAgentRun(
  platform: Platform,
  tenantId: string,
  agentRunId: string,
  workId: string,
): Promise<BegunRun | null> {
  const [run] = await platform.database.query<BegunRun>(tenantId, {
    text: `
      update dws.agent_run
      set status = 'running', started_at = now(), version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2 and status = 'queued'
      returning id, tenant_id as "tenantId", agent_id as "agentId", event_name as "eventName",
        event_app_id as "eventAppId", payload, depth, $3::uuid as "workId"`,
    values: [tenantId, agentRunId, workId],
  });
  return run ?? null;
}

/**
 * Stores the steps and notes of a run so far. Returns false, and stores nothing, if the run has ended: its worker counts as dead, or
 * the agent was deleted.
 */
export async function saveProgress(
  tx: Pick<Transaction, 'query'>,
  { tenantId, id }: Pick<BegunRun, 'tenantId' | 'id'>,
  { steps, notes }: { steps: readonly AgentStep[]; notes: readonly string[] },
): Promise<boolean> {
  const saved = await tx.query({
    text: `
      update dws.agent_run
      set steps = $3, notes = $4, version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2 and status = 'running'
      returning id`,
    values: [tenantId, id, JSON.stringify(steps), JSON.stringify(notes)],
  });
  return saved.length > 0;
}
