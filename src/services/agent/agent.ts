import type { CreateAgentInput, UpdateAgentInput } from '../../../entities/agent-input.ts';
import { Agent } from '../../../entities/agent.ts';
import { ASSISTANT } from '../../../entities/owned-kinds.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { assignPresent, checkText } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { LEVEL, levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { requireUser } from '../../core/viewer.ts';
import { accessLevelInTransaction } from '../resource/access-level.ts';
import { checkVersion, loadResource, type ExpectedVersion } from '../resource/load-resource.ts';
import { setMonthlyBudget } from '../usage/monthly-budget.ts';
import { requireBilling } from '../usage/require-billing.ts';
import { loadProfile } from '../usage/usage-profile.ts';
import { actsForOwner, requireAccepted } from './agent-acceptance.ts';
import { acceptApps, printEvent, resolveEvents } from './event-bindings.ts';
import { stopRuns } from './stop-runs.ts';

/** Agents of one assistant. */
const MAX_AGENTS = 100;

/** Creates an agent of an assistant that the caller may write. It has the rights of the caller. Returns its id. */
export async function create(
  ctx: Context,
  { assistantId, name, events, instructions, usageProfileId, enabled, monthlyBudget }: CreateAgentInput,
): Promise<string> {
  const ownerId = requireUser(ctx.viewer);
  return ctx.transaction(async (tx) => {
    // Locked, so that the number of its agents is exact.
    const assistant = await loadResource(ctx, tx, ASSISTANT, assistantId, 'assistant:write');
    if ((await tx.count(Agent, { assistantId: assistant.id })) >= MAX_AGENTS)
      throw conflict(`An assistant has at most ${MAX_AGENTS} agents`);
    const agent = newRow(Agent, {
      tenantId: ctx.viewer.tenantId,
      assistantId: assistant.id,
      ownerId,
      name: checkText(name, 'name'),
      events: await resolveEvents(ctx, tx, events ?? [], []),
      instructions: instructions || null,
      usageProfileId: usageProfileId ? await resolveProfile(ctx, tx, usageProfileId) : null,
      enabled: enabled ?? true,
    });
    setMonthlyBudget(ctx, agent, monthlyBudget);
    tx.insert(agent);
    acceptApps(tx, agent);
    return agent.id;
  });
}

/**
 * Updates an agent. Changes by a user other than its owner do not run before the owner accepts them. Returns its id.
 */
export async function update(
  ctx: Context,
  id: string,
  { name, events, instructions, usageProfileId, enabled, monthlyBudget }: UpdateAgentInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const agent = await loadAgent(ctx, tx, id, 'agent:write', { ifMatch: ctx.ifMatch });
    const former = whatItDoes(agent);
    setMonthlyBudget(ctx, agent, monthlyBudget);
    assignPresent<Agent>(agent, {
      name: name === undefined ? undefined : checkText(name, 'name'),
      events: events === undefined ? undefined : await resolveEvents(ctx, tx, events ?? [], agent.events),
    });
    if (instructions !== undefined) agent.instructions = instructions || null;
    if (usageProfileId !== undefined && usageProfileId !== (agent.usageProfileId ?? null))
      agent.usageProfileId = await resolveProfile(ctx, tx, usageProfileId);
    if (enabled && !agent.enabled) requireAccepted(ctx, agent);
    const isForOwner = actsForOwner(ctx, agent.ownerId);
    if (enabled && isForOwner) agent.accepted = true;
    if (whatItDoes(agent) !== former && !isForOwner) agent.accepted = false;
    assignPresent<Agent>(agent, { enabled });
    if (isForOwner && (enabled || events !== undefined)) acceptApps(tx, agent);
    return agent.id;
  });
}

/** Returns the settings that the owner of an agent accepts. */
const whatItDoes = ({ events, instructions }: Agent): string =>
  JSON.stringify([events.map(printEvent), instructions ?? null]);

/** Deletes an agent with its runs, and cancels those that have not ended. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const agent = await loadAgent(ctx, tx, id, 'agent:delete', { ifMatch: ctx.ifMatch });
    stopRuns(tx, agent.tenantId, { agentId: agent.id });
    tx.remove(agent);
  });
}

/**
 * Loads an agent for a change and locks it until the transaction ends. Throws NOT_FOUND if the viewer may not read its
 * assistant, FORBIDDEN with the permission if they lack it, and 412 if `If-Match` does not allow its version.
 */
export async function loadAgent(
  ctx: Context,
  tx: Transaction,
  id: string,
  permission: ResourcePermission,
  expected: ExpectedVersion = {},
): Promise<Agent> {
  const agent = isUuid(id) ? await tx.findOne(Agent, { id: id.toLowerCase() }, { lock: 'update' }) : null;
  if (agent) recordAuditTarget(ctx.request, 'agent', id, agent.id);
  const level = agent ? await levelOn(ctx, tx, agent) : LEVEL.none;
  if (!agent || level === LEVEL.none) throw notFound({ what: 'agent', id });
  if (!levelAllows(level, permission)) throw forbidden({ permission });
  checkVersion(expected, 'agent', agent.version);
  return agent;
}

/** Returns the level of the viewer on the assistant of an agent. */
async function levelOn(ctx: Context, tx: Transaction, { assistantId }: Agent) {
  const [assistant] = await tx.query<{ id: string; ownerId: string }>({
    text: `select id, owner_id as "ownerId" from dws.assistant where tenant_id = $1 and id = $2`,
    values: [ctx.viewer.tenantId, assistantId],
  });
  return assistant ? accessLevelInTransaction(ctx, tx, assistant) : LEVEL.none;
}

/** Returns the id of a usage profile. Throws FORBIDDEN without `billing:manage`, then NOT_FOUND for an unknown one. */
async function resolveProfile(ctx: Context, tx: Transaction, id: string | null): Promise<string | null> {
  requireBilling(ctx.viewer);
  return id === null ? null : (await loadProfile(ctx, tx, id, 'key share')).id;
}
