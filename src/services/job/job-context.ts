import type { Job } from '../../../entities/job.ts';
import type { Context, RequestInfo } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import type { ActionRun } from '../../core/job-drivers.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { loadPrincipalViewer } from '../identity/principal-viewer.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { wait } from '../operation/operation-wait.ts';
import { cancel } from '../operation/operation.ts';
import { createViewerContext } from '../resource/viewer-context.ts';

/** Limit of the cancellation of an operation, in milliseconds. */
const CANCEL_TIMEOUT_MS = 10_000;

/**
 * Returns a context that acts as a user or a team, for the work of an operation. It ends with `signal`. Throws
 * FORBIDDEN with a sentence for a deleted principal and for a disabled user.
 */
export const createJobContext = async (
  platform: Platform,
  tenantId: string,
  principal: string,
  signal: AbortSignal,
): Promise<Context> => contextFor(platform, await loadPrincipalViewer(platform.system, tenantId, principal), signal);

/**
 * Returns the context of the owner of a job that runs. Throws FORBIDDEN like `createJobContext`, and if the job belongs to
 * another owner by now.
 */
export async function createOwnerContext(
  platform: Platform,
  { id, tenantId }: Pick<Job, 'id' | 'tenantId'>,
  ownerId: string,
  signal: AbortSignal,
): Promise<Context> {
  const ctx = await createJobContext(platform, tenantId, ownerId, signal);
  const [job] = await ctx.query<{ ownerId: string }>({
    text: `select owner_id as "ownerId" from dws.job where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  if (job?.ownerId !== ownerId) throw refused('The job got another owner after the run was requested');
  return ctx;
}

/** Returns a context that acts as a viewer of `loadPrincipalViewer`. It ends with `signal`. */
function contextFor(platform: Platform, viewer: Viewer, signal: AbortSignal): Context {
  const request: RequestInfo = {
    id: newId(),
    address: '127.0.0.1',
    channel: 'job',
    userAgent: null,
    signal,
    setOperation: () => undefined,
    setSession: () => undefined,
  };
  return createViewerContext(platform, request, viewer);
}

/**
 * Waits for an operation that an action has started, and returns its finished record. Reports its percentage as the
 * action's, and cancels it when the action is aborted. Throws the failure of the operation.
 */
export async function waitForOperation(
  { ctx, progress }: Pick<ActionRun, 'ctx' | 'progress'>,
  started: Promise<OperationRecord>,
): Promise<OperationRecord> {
  const { id } = await started;
  try {
    return await wait(ctx, id, ({ percent }) => progress(percent ?? 0));
  } catch (error) {
    if (ctx.request.signal.aborted) await cancelOperation(ctx, id);
    throw error;
  }
}

/** Cancels an operation of a context whose signal is aborted. Does nothing if the operation has ended. */
async function cancelOperation({ platform, viewer, request }: Context, id: string): Promise<void> {
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  await cancel(createViewerContext(platform, { ...request, signal }, viewer), id).catch((error: unknown) =>
    platform.log.debug({ err: error, id }, 'An operation of a job was not cancelled'),
  );
}
