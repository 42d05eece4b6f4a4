import { toApiError } from '../../core/api-error.ts';
import type { HandlerServices, HandlerTask } from '../../core/app-run.ts';
import { checkOrigin } from '../../core/check-origin.ts';
import { checkStorage } from '../resource/storage-limit.ts';
import { emitEvent } from './handler-event.ts';
import { fetchForHandler } from './handler-fetch.ts';
import { sendMail } from './handler-mail.ts';
import { notifyReaders } from './handler-notify.ts';

/**
 * Returns what the handler of a task can do outside of its app. For a request from another site it changes nothing there:
 * `fetch` passes the origin on to the API. See docs/contract.md#services-of-handlers.
 */
export const createHandlerServices = (task: Pick<HandlerTask, 'app' | 'ctx' | 'depth'>): HandlerServices => ({
  fetch: (request, signal) => withSentence(() => fetchForHandler(task, request, signal)),
  emit: (name, payload) => toStore(task, () => emitEvent(task, name, payload)),
  notify: (principals, notification) => toStore(task, () => notifyReaders(task, principals, notification)),
  email: (mail) => toStore(task, () => sendMail(task, mail)),
});

/**
 * Does work that stores something. Throws 403 if the request for which the handler runs may not change anything, and 413
 * if the storage of the app is used up.
 */
const toStore = <T>({ app, ctx }: Pick<HandlerTask, 'app' | 'ctx'>, work: () => Promise<T>): Promise<T> =>
  withSentence(async () => {
    checkOrigin(ctx.request);
    await checkStorage(ctx.platform, app.tenantId, app.id);
    return work();
  });

/** Throws the error that callers may see for one of the database or the disk. */
async function withSentence<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toApiError(error) ?? error;
  }
}
