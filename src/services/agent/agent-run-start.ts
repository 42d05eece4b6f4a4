import { AgentRun } from '../../../entities/agent-run.ts';
import type { Agent } from '../../../entities/agent.ts';
import type { Context } from '../../core/context.ts';
import { conflict, tooMany, unavailable } from '../../core/errors.ts';
import { checkJsonBounds } from '../../core/input-checks.ts';
import { MAX_JSON_DEPTH } from '../../core/json-depth.ts';
import { lockKey } from '../../core/locks.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { actingUserId } from '../../core/viewer.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { actsForOwner, requireAccepted } from './agent-acceptance.ts';
import { MAX_CHAIN_DEPTH } from './agent-chain.ts';
import { reserveRun, type RunPrice } from './agent-credits.ts';
import { priceRun } from './agent-price.ts';
import { loadAgent } from './agent.ts';
import { acceptApps } from './event-bindings.ts';

/** Maximum number of runs of one agent in an hour. */
export const MAX_RUNS_PER_HOUR = 60;
/** Maximum number of runs of all agents of one owner in an hour, including deleted agents. */
export const MAX_RUNS_OF_OWNER = 4 * MAX_RUNS_PER_HOUR;

const PAYLOAD_BOUNDS = { maxBytes: 65_536, maxDepth: MAX_JSON_DEPTH };

/**
 * Runs an agent now with the rights of its owner, even if the agent is disabled. Returns the operation, with `waits` once it
 * has ended.
 * Throws CONFLICT while the owner has not accepted it, RATE_LIMITED after too many runs, CREDITS_SPENT and FORBIDDEN like
 * `reserveCredits`.
 */
export async function run(
  ctx: Context,
  id: string,
  payload: unknown,
  progress: string | null | undefined,
  waits: boolean,
): Promise<OperationRecord> {
  checkJsonBounds({ payload }, 'payload', PAYLOAD_BOUNDS);
  const depth = 1 + (ctx.request.appDepth ?? 0);
  if (depth > MAX_CHAIN_DEPTH)
    throw unavailable(`Agents and handlers of apps start each other at most ${MAX_CHAIN_DEPTH} deep`);
  // Before the transaction, because it reads the owner's data through other connections.
  const loaded = await ctx.platform.database.transaction(ctx.viewer.tenantId, (tx) => loadForRun(ctx, tx, id));
  const price = await priceRun(ctx.platform, loaded, { eventName: null, payload, depth }, ctx.request.signal);
  return startInTransaction(ctx, waits, async (tx) => {
    const agent = await loadForRun(ctx, tx, id);
    if (agent.ownerId !== loaded.ownerId) throw conflict('The agent has just got another owner');
    await checkRate(tx, agent);
    return startRun(ctx, tx, agent, { payload: payload ?? null, depth, progress, price });
  });
}

/** Loads an agent that the viewer may run, and locks it, so that its runs are counted exactly. */
async function loadForRun(ctx: Context, tx: Transaction, id: string): Promise<Agent> {
  const agent = await loadAgent(ctx, tx, id, 'agent:run');
  requireAccepted(ctx, agent);
  return agent;
}

async function checkRate(tx: Transaction, { tenantId, id, ownerId }: Agent): Promise<void> {
  const [state] = await tx.query<{ runs: number; seconds: number | null }>({
    text: `
      select count(*)::int as runs,
        greatest(ceil(extract(epoch from min(created_at) + interval '1 hour' - now())), 1)::int as seconds
      from dws.agent_run
      where tenant_id = $1 and agent_id = $2 and created_at > now() - interval '1 hour' and not refused`,
    values: [tenantId, id],
  });
  if (state!.runs >= MAX_RUNS_PER_HOUR)
    throw tooMany(`An agent runs at most ${MAX_RUNS_PER_HOUR} times in an hour`, {
      headers: { 'retry-after': String(state!.seconds ?? 1) },
    });
  await checkRateOfOwner(tx, tenantId, ownerId);
}

/** Returns the key to lock, after the agents, before runs of an owner's agents are started. */
export const rateKeyOf = (ownerId: string): string => `agent-runs:${ownerId}`;

/** Counts the operations, which stay when an agent is deleted. Until the transaction ends, other runs of the owner wait. */
async function checkRateOfOwner(tx: Transaction, tenantId: string, ownerId: string): Promise<void> {
  lockKey(tx, rateKeyOf(ownerId));
  const [state] = await tx.query<{ runs: number; seconds: number | null }>({
    text: `
      select count(*)::int as runs,
        greatest(ceil(extract(epoch from min(created_at) + interval '1 hour' - now())), 1)::int as seconds
      from dws.operation
      where tenant_id = $1 and operation = 'agent.run' and input->>'ownerId' = $2
        and created_at > now() - interval '1 hour'`,
    values: [tenantId, ownerId],
  });
  if (state!.runs < MAX_RUNS_OF_OWNER) return;
  throw tooMany(`The agents of an owner run at most ${MAX_RUNS_OF_OWNER} times in an hour`, {
    headers: { 'retry-after': String(state!.seconds ?? 1) },
  });
}

/** Starts a run of a locked agent, and marks it as accepted if its owner runs it. Returns the id of the operation. */
async function startRun(
  ctx: Context,
  tx: Transaction,
  agent: Agent,
  { payload, depth, progress, price }: { payload: unknown; depth: number; progress?: string | null; price: RunPrice },
): Promise<string> {
  const { tenantId, id: agentId, ownerId } = agent;
  const row = newRow(AgentRun, {
    tenantId,
    agentId,
    trigger: 'manual',
    depth,
    payload,
    userId: actingUserId(ctx.viewer),
  });
  row.operationId = await operations.start(ctx, tx, {
    operation: 'agent.run',
    resource: { kind: 'agent', id: agentId },
    input: { agentRunId: row.id, ownerId },
    progress,
    unit: 'steps',
  });
  tx.insert(row);
  if (!agent.accepted && actsForOwner(ctx, ownerId)) {
    tx.writeUnrecorded(agent, { accepted: true });
    acceptApps(tx, agent);
  }
  tx.flush();
  await reserveRun(tx, { tenantId, agentId, ownerId, agentRunId: row.id }, price);
  return row.operationId;
}
