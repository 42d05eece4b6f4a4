import { toApiError } from '../../core/api-error.ts';
import type { HandlerServices, HandlerTask } from '../../core/app-run.ts';
import { sendingIssue } from '../../core/authority.ts';
import { checkCanAct } from '../identity/principal-viewer.ts';
import { checkStorage } from '../resource/storage-limit.ts';
import { emitEvent } from './handler-event.ts';
import { fetchForHandler } from './handler-fetch.ts';
import { sendMail } from './handler-mail.ts';
import { notifyReaders } from './handler-notify.ts';

/**
 * Returns what the handler of a task can do outside of its app, as far as its authority allows. See
 * docs/contract.md#services-of-handlers.
 */
export const createHandlerServices = (
  task: Pick<HandlerTask, 'app' | 'ctx' | 'authority' | 'depth'>,
): HandlerServices => ({
  fetch: (request, signal) => whileActing(task, () => fetchForHandler(task, request, signal)),
  emit: (name, payload) => send(task, 'emit', () => emitEvent(task, name, payload)),
  notify: (principals, notification) => send(task, 'notify', () => notifyReaders(task, principals, notification)),
  email: (mail) => send(task, 'email', () => sendMail(task, mail)),
});

/** Sends something. Throws 403 if the run has no authority to do so, and 413 if the storage of the app is used up. */
const send = <T>(
  { app, ctx, authority }: Pick<HandlerTask, 'app' | 'ctx' | 'authority'>,
  service: 'emit' | 'notify' | 'email',
  work: () => Promise<T>,
): Promise<T> =>
  whileActing({ ctx }, async () => {
    const refusal = sendingIssue(authority, service);
    if (refusal) throw refusal;
    await checkStorage(ctx.platform, app.tenantId, app.id);
    return work();
  });

/**
 * Does something for the caller of a handler. Throws 403 if that one can no longer act, as it was when the run began, and
 * the error that callers may see for one of the database or the disk.
 */
async function whileActing<T>({ ctx }: Pick<HandlerTask, 'ctx'>, work: () => Promise<T>): Promise<T> {
  try {
    await checkCanAct(ctx.platform.system, ctx.viewer);
    return await work();
  } catch (error) {
    throw toApiError(error) ?? error;
  }
}
