import type { SendErrorPage } from '../../../rest-bridge/send-error.ts';
import { sendAppQuestionPage } from './app-question-page.ts';
import { CARDS, escapeHtml, htmlPage, prefersHtml, sendHtml } from './html.ts';

/** Sends the error of a row that browsers open as a page. Handlers of apps respond with JSON, except to questions. */
export const sendErrorPage: SendErrorPage = (request, reply, message, error) =>
  request.routeOptions.url?.startsWith('/api/apps/') === true
    ? sendAppQuestionPage(request, reply, error)
    : sendLoginErrorPage(request, reply, message, error);

const errorPage = (title: string, heading: string, message: string): string =>
  htmlPage(
    title,
    `<main>
  <h1>${heading}</h1>
  <p class="lead">${escapeHtml(message)}.</p>
  <nav>${CARDS.home}</nav>
</main>`,
    { head: '<meta name="robots" content="noindex">' },
  );

/** Sends the error of a login or an authorization at a provider to a browser, as a page with the way back. */
const sendLoginErrorPage: SendErrorPage = (request, reply, message) => {
  if (!prefersHtml(request)) return false;
  const isLogin = request.routeOptions.url?.startsWith('/api/login') ?? false;
  const page = isLogin
    ? errorPage('Not logged in', 'You are not logged in', message)
    : errorPage('Not connected', 'Nothing was connected', message);
  void sendHtml(reply, page);
  return true;
};
