import type { HandlerTask } from '../../core/app-run.ts';
import type { Authority } from '../../core/authority.ts';
import { currentViewer } from '../identity/principal-viewer.ts';
import { createViewerContext } from '../resource/viewer-context.ts';
import { currentLimit } from './app-grant.ts';

/** The context and the authority of a run. */
type Acting = Pick<HandlerTask, 'ctx' | 'authority'>;

/**
 * Returns a task with the rights that its caller still has and grants, never more than when the run began. Called
 * before each host call of a run. Throws FORBIDDEN with a sentence if the caller can no longer act.
 */
export async function withCurrentRights<T extends Acting>(task: T): Promise<T> {
  const { platform, request } = task.ctx;
  const [viewer, authority] = await Promise.all([
    currentViewer(platform.system, task.ctx.viewer, task.authority.credential),
    currentAuthority(task),
  ]);
  return { ...task, ctx: createViewerContext(platform, request, viewer), authority };
}

/** Returns the authority of a run, reduced to what users still grant. */
export async function currentAuthority({ ctx: { platform }, authority }: Acting): Promise<Authority> {
  const limits = await Promise.all(authority.limits.map((limit) => currentLimit(platform, limit)));
  return { ...authority, limits };
}
