import { ASSISTANT, OWNED_KINDS } from '../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../entities/owned-row.ts';
import { ApiError, forbidden, notFound } from '../core/errors.ts';
import type { OPERATION_NAMES, OperationName } from '../core/operations.ts';
import { LEVEL, levelAllows, type ResourcePermission } from '../core/permissions.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import { loadPrincipalViewer, principalOf } from '../services/identity/principal-viewer.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { accessLevelInTransaction } from '../services/resource/access-level.ts';

/**
 * The permission on its resource that the caller of an operation needs when it starts and when it ends. `dataset.run` is
 * never queued.
 */
const REQUIRED: Readonly<Record<Exclude<(typeof OPERATION_NAMES)[number], 'dataset.run'>, ResourcePermission>> = {
  'dataset.refresh': 'dataset:refresh',
  'dataset.benchmark': 'dataset:refresh',
  'dataset.preview': 'dataset:refresh',
  'dataset.promoteRefresh': 'dataset:refresh',
  'dataset.copy': 'dataset:copy',
  'dataset.snapshot': 'dataset:copy',
  'dataset.promote': 'dataset:copy',
  'datasource.replaceFile': 'datasource:write',
  'job.run': 'job:run',
  'template.render': 'template:read',
  'app.migrate': 'app:write',
  'app.deploy': 'app:write',
  'library.sync': 'library:sync',
  'agent.run': 'agent:run',
  'image.create': 'assistant:write',
};

/** The callers of a work item, and the errors of callers without the right to it. */
export interface CheckedCallers {
  /** By the id of the user or team. */
  refusals: ReadonlyMap<string, ApiError>;
  /** The error of the first caller if all are refused. */
  refusal: ApiError | undefined;
}

/**
 * Checks the callers of a claimed work item. Refused are users who were deleted, disabled or locked by an administrator,
 * and callers who lost the permission on the resource. Work in the name of the owner of its job or agent, as a schedule or
 * an event starts it, is not refused here: its handler checks the owner.
 */
export async function checkCallers(platform: Platform, claim: Claim): Promise<CheckedCallers> {
  const callers = await platform.database.query<{ userId: string }>(claim.tenantId, {
    text: `select distinct user_id as "userId"
      from dws.operation
      where tenant_id = $1 and work_id = $2 and finished_at is null`,
    values: [claim.tenantId, claim.workId],
  });
  const refusals = new Map<string, ApiError>();
  for (const { userId } of callers) {
    const error = await refusalOf(platform, claim, userId);
    if (error) refusals.set(userId, error);
  }
  const [refusal] = refusals.size === callers.length ? refusals.values() : [];
  return { refusals, refusal };
}

async function refusalOf(platform: Platform, claim: Claim, userId: string): Promise<ApiError | undefined> {
  try {
    await checkCaller(platform, claim, userId);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return error;
    throw error;
  }
}

async function checkCaller(platform: Platform, claim: Claim, userId: string): Promise<void> {
  const { tenantId, input } = claim;
  const principal = await principalOf(platform.system, tenantId, userId);
  if ('ownerId' in input && input.ownerId === principal) return;
  const viewer = await loadPrincipalViewer(platform.system, tenantId, principal);
  // An image without an assistant has no other resource.
  if (claim.operation === 'image.create' && !viewer.superuser && !viewer.permissions.has('ai:access'))
    throw forbidden({ permission: 'ai:access' });
  if (claim.resourceKind === 'image') return;
  const permission = (REQUIRED as Partial<Record<OperationName, ResourcePermission>>)[claim.operation];
  if (!permission) throw new Error(`No permission is declared for ${claim.operation}`);
  await platform.database.transaction(tenantId, async (tx) => {
    const resource = await findResource(tx, claim);
    // Of a resource that was deleted the handler says so.
    if (!resource) return;
    const level = await accessLevelInTransaction({ viewer }, tx, resource);
    if (level === LEVEL.none) throw notFound({ what: claim.resourceKind, id: claim.resourceId });
    if (!levelAllows(level, permission)) throw forbidden({ permission });
  });
}

/** Loads the row whose owner and shares decide: for an agent, its assistant. */
async function findResource(
  tx: Transaction,
  { tenantId, resourceKind, resourceId }: Claim,
): Promise<OwnedRow | undefined | null> {
  if (resourceKind !== 'agent') {
    const kind = OWNED_KINDS.find((one) => one.kind === resourceKind);
    if (!kind) throw new Error(`Operations have no resources of the kind ${resourceKind}`);
    return tx.findOne(kind.entity, { id: resourceId });
  }
  const [agent] = await tx.query<{ assistantId: string }>({
    text: `select assistant_id as "assistantId" from dws.agent where tenant_id = $1 and id = $2`,
    values: [tenantId, resourceId],
  });
  return agent && tx.findOne(ASSISTANT.entity, { id: agent.assistantId });
}
