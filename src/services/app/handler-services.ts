import { toApiError } from '../../core/api-error.ts';
import type { HandlerServices, HandlerTask } from '../../core/app-run.ts';
import { checkOrigin } from '../../core/check-origin.ts';
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
  emit: (name, payload) => fromSameOrigin(task, () => emitEvent(task, name, payload)),
  notify: (principals, notification) => fromSameOrigin(task, () => notifyReaders(task, principals, notification)),
  email: (mail) => fromSameOrigin(task, () => sendMail(task, mail)),
});

/** Does work that changes something. Throws 403 if the request for which the handler runs may not change anything. */
const fromSameOrigin = <T>({ ctx }: Pick<HandlerTask, 'ctx'>, work: () => Promise<T>): Promise<T> =>
  withSentence(async () => {
    checkOrigin(ctx.request);
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
