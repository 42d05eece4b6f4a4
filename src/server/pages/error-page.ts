import type { SendErrorPage } from '../../../rest-bridge/send-error.ts';
import { sendAppQuestionPage } from './app-question-page.ts';
import { sendLoginErrorPage } from './login-error-page.ts';

/** Sends the error of a row that browsers open as a page. Handlers of apps respond with JSON, except to questions. */
export const sendErrorPage: SendErrorPage = (request, reply, message, error) =>
  request.routeOptions.url?.startsWith('/api/apps/') === true
    ? sendAppQuestionPage(request, reply, error)
    : sendLoginErrorPage(request, reply, message, error);
