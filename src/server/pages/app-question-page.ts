import type { FastifyReply, FastifyRequest } from 'fastify';
import { OriginQuestion, type NamedApp } from '../../core/app-question.ts';
import { ConsentRequired } from '../../core/authority.ts';
import { escapeHtml, htmlPage, prefersHtml, sendHtml } from './html.ts';

/** Returns the words that name an app and its owner. */
const nameOf = ({ name, ownerName }: NamedApp): string =>
  `<strong>${escapeHtml(name)}</strong>${ownerName === null ? '' : ` of <strong>${escapeHtml(ownerName)}</strong>`}`;

const originPage = (app: NamedApp, url: string): string =>
  htmlPage(
    'Open an app',
    `<main>
  <h1>Open this app?</h1>
  <p class="lead">A link on another site opens the app ${nameOf(app)}. It runs code of its authors as you.</p>
  <nav><a href="${escapeHtml(url)}"><strong>Continue</strong><span>Open the app</span></a></nav>
</main>`,
    { head: '<meta name="robots" content="noindex">' },
  );

/** Returns whether a browser opens the response as a page of its own. */
function isNavigation(request: FastifyRequest): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = request.headers;
  return mode === undefined ? prefersHtml(request) : mode === 'navigate' && destination === 'document';
}

/**
 * Sends the question of an app to a browser as a page of the service. Returns false for an error that is not a question.
 */
export function sendAppQuestionPage(request: FastifyRequest, reply: FastifyReply, error: Error): boolean {
  if (!isNavigation(request)) return false;
  if (error instanceof ConsentRequired) {
    const page = `/app-access/${error.consent.appId}?returnTo=${encodeURIComponent(request.url)}`;
    void reply.header('cache-control', 'no-store').redirect(page, 303);
    return true;
  }
  if (!(error instanceof OriginQuestion)) return false;
  void sendHtml(reply, originPage(error.app, request.url));
  return true;
}
