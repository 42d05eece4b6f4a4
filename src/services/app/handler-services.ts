import { toApiError } from '../../core/api-error.ts';
import type { HandlerServices, HandlerTask } from '../../core/app-run.ts';
import { emitEvent } from './handler-event.ts';
import { fetchForHandler } from './handler-fetch.ts';
import { sendMail } from './handler-mail.ts';
import { notifyReaders } from './handler-notify.ts';

/** Returns what the handler of a task can do outside of its app. See docs/contract.md#services-of-handlers. */
export const createHandlerServices = (task: Pick<HandlerTask, 'app' | 'ctx' | 'depth'>): HandlerServices => ({
  fetch: (request, signal) => withSentence(fetchForHandler(task, request, signal)),
  emit: (name, payload) => withSentence(emitEvent(task, name, payload)),
  notify: (principals, notification) => withSentence(notifyReaders(task, principals, notification)),
  email: (mail) => withSentence(sendMail(task, mail)),
});

/** Throws the error that callers may see for one of the database or the disk. */
async function withSentence<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toApiError(error) ?? error;
  }
}
