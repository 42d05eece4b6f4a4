import type { CreateAssistantInput, UpdateAssistantInput } from '../../../entities/assistant-input.ts';
import type { Assistant } from '../../../entities/assistant.ts';
import { ASSISTANT, DATASET, TOOLKIT, type OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { Context } from '../../core/context.ts';
import { isUuid } from '../../core/id.ts';
import { assignPresent } from '../../core/input-checks.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { withdrawAcceptance } from '../agent/agent-acceptance.ts';
import { acceptInheritedApps, printEvent, resolveEvents } from '../agent/event-bindings.ts';
import { stopRuns } from '../agent/stop-runs.ts';
import { loadResource, loadUsedResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { deleteStoredBytes } from '../resource/stored-file.ts';
import { setMonthlyBudget } from '../usage/monthly-budget.ts';
import { iconFilesOf } from './assistant-icon.ts';

/** Creates an assistant. Returns its id. Throws NOT_FOUND for a toolkit or dataset that the caller cannot read. */
export async function create(
  ctx: Context,
  { icon, instructions, model, toolkitIds, datasetIds, events, monthlyBudget, ...input }: CreateAssistantInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const content: Partial<Assistant> = {
      icon: icon ?? null,
      instructions: instructions || null,
      model: model ?? null,
      toolkitIds: await resolveUsed(ctx, tx, TOOLKIT, toolkitIds ?? [], []),
      datasetIds: await resolveUsed(ctx, tx, DATASET, datasetIds ?? [], []),
      events: await resolveEvents(ctx, tx, events ?? [], []),
    };
    setMonthlyBudget(ctx, content, monthlyBudget);
    return (await createOwned(ctx, tx, ASSISTANT, input, content)).id;
  });
}

/** Updates an assistant. Returns its id. Throws NOT_FOUND for an added toolkit or dataset that the caller cannot read. */
export async function update(
  ctx: Context,
  id: string,
  { icon, instructions, model, toolkitIds, datasetIds, events, monthlyBudget, ...input }: UpdateAssistantInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const assistant = await loadResource(ctx, tx, ASSISTANT, id, 'assistant:write', { ifMatch: ctx.ifMatch });
    const former = whatItDoes(assistant);
    setMonthlyBudget(ctx, assistant, monthlyBudget);
    assignPresent<Assistant>(assistant, { icon, instructions: instructions === '' ? null : instructions, model }, [
      'icon',
      'instructions',
      'model',
    ]);
    if (toolkitIds !== undefined)
      assistant.toolkitIds = await resolveUsed(ctx, tx, TOOLKIT, toolkitIds ?? [], assistant.toolkitIds);
    if (datasetIds !== undefined)
      assistant.datasetIds = await resolveUsed(ctx, tx, DATASET, datasetIds ?? [], assistant.datasetIds);
    if (events !== undefined) assistant.events = await resolveEvents(ctx, tx, events ?? [], assistant.events);
    if (whatItDoes(assistant) !== former) withdrawAcceptance(ctx, tx, assistant.id);
    if (events !== undefined) acceptInheritedApps(ctx, tx, assistant.id);
    await updateOwned(ctx, tx, ASSISTANT, assistant, input);
    return assistant.id;
  });
}

/** Returns the settings that the owners of its agents accept. */
const whatItDoes = ({ instructions, model, toolkitIds, datasetIds, events }: Assistant): string =>
  JSON.stringify([instructions ?? null, model ?? null, toolkitIds, datasetIds, events.map(printEvent)]);

/** Deletes an assistant with its agents. Throws CONFLICT listing its users if it is in use. */
export async function remove(ctx: Context, id: string): Promise<void> {
  const files = await ctx.transaction(async (tx) => {
    const assistant = await loadResource(ctx, tx, ASSISTANT, id, 'assistant:delete', { ifMatch: ctx.ifMatch });
    await checkUnused(ctx, tx, 'assistant', assistant.id);
    stopRuns(tx, assistant.tenantId, { assistantId: assistant.id });
    tx.remove(assistant);
    return iconFilesOf(assistant);
  });
  await deleteStoredBytes(ctx, files);
}

/**
 * Returns the ids of used resources without duplicates. Resources that the assistant already has stay, even if the
 * caller cannot read them.
 */
async function resolveUsed<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: OwnedKind<T>,
  keys: readonly string[],
  former: readonly string[],
): Promise<string[]> {
  const known = new Set(former);
  const ids = new Set<string>();
  for (const key of keys) {
    const id = isUuid(key) ? key.toLowerCase() : key;
    ids.add(
      known.has(id) ? id : (await loadUsedResource(ctx, tx, kind, key, `${kind.kind}:read` as ResourcePermission)).id,
    );
  }
  return [...ids];
}
