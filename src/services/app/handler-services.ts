import { toApiError } from '../../core/api-error.ts';
import type { HandlerServices, HandlerTask } from '../../core/app-run.ts';
import { sendingIssue } from '../../core/authority.ts';
import { checkStorage } from '../resource/storage-limit.ts';
import { emitEvent } from './handler-event.ts';
import { fetchForHandler } from './handler-fetch.ts';
import { sendMail } from './handler-mail.ts';
import { notifyReaders } from './handler-notify.ts';
import { withCurrentRights } from './handler-rights.ts';

/**
 * Returns the services outside of its app that the handler of a task can use, as far as its authority allows. See
 * docs/contract/handlers.md#services-of-handlers.
 */
export const createHandlerServices = (task: ServicesTask): HandlerServices => ({
  fetch: (request, signal) => act(task, (now) => fetchForHandler(now, request, signal)),
  emit: (name, payload) => send(task, 'emit', (now) => emitEvent(now, name, payload)),
  notify: (principals, notification) => send(task, 'notify', (now) => notifyReaders(now, principals, notification)),
  email: (mail) => send(task, 'email', (now) => sendMail(now, mail)),
});

type ServicesTask = Pick<HandlerTask, 'app' | 'ctx' | 'authority' | 'depth'>;

/** Sends something. Throws 403 if the run has no authority to do so, and 413 if the storage of the app is exhausted. */
const send = <T>(
  task: ServicesTask,
  service: 'emit' | 'notify' | 'email',
  work: (now: ServicesTask) => Promise<T>,
): Promise<T> =>
  act(task, async (now) => {
    const refusal = sendingIssue(now.authority, service);
    if (refusal) throw refusal;
    await checkStorage(now.ctx.platform, now.app.tenantId, now.app.id);
    return work(now);
  });

/**
 * Does something with the rights that the caller of a handler still has. Throws 403 if that caller can no longer act,
 * and the public error for an error of the database or the disk.
 */
async function act<T>(task: ServicesTask, work: (now: ServicesTask) => Promise<T>): Promise<T> {
  try {
    return await work(await withCurrentRights(task));
  } catch (error) {
    throw toApiError(error) ?? error;
  }
}
