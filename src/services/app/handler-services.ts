import type { HandlerServices, HandlerTask } from '../../core/app-run.ts';
import { unavailable } from '../../core/errors.ts';

/** Stand-in of the branch `hostcalls`. */
export function createHandlerServices(_task: Pick<HandlerTask, 'app' | 'ctx' | 'depth'>): HandlerServices {
  const absent = async (): Promise<never> => {
    throw unavailable('This function does not exist yet');
  };
  return { fetch: absent, emit: absent, notify: absent, email: absent };
}
