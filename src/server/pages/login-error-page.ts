import type { SendErrorPage } from '../../../rest-bridge/send-error.ts';
import { CARDS, escapeHtml, htmlPage, prefersHtml, sendHtml } from './html.ts';

const loginErrorPage = (message: string): string =>
  htmlPage(
    'Not logged in',
    `<main>
  <h1>You are not logged in</h1>
  <p class="lead">${escapeHtml(message)}.</p>
  <nav>${CARDS.home}</nav>
</main>`,
    { head: '<meta name="robots" content="noindex">' },
  );

/** Sends the error of a login at an identity provider to a browser, as a page with the way back. */
export const sendLoginErrorPage: SendErrorPage = (request, reply, message) => {
  if (!prefersHtml(request)) return false;
  void sendHtml(reply, loginErrorPage(message));
  return true;
};
