import type { FastifyReply, FastifyRequest } from 'fastify';
import { CARDS, prefersHtml, sendHtml, htmlPage } from './html.ts';

const NOT_FOUND_PAGE = htmlPage(
  'Page not found',
  `<main>
  <h1>Page not found</h1>
  <p class="lead">There is no page at this address.</p>
  <nav>${CARDS.home} ${CARDS.graphiql} ${CARDS.docs}</nav>
</main>`,
);

/** Sends a page with status 404 to a browser. Returns undefined for other clients and below `/api`: they get JSON. */
export function sendNotFoundPage(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const isPage = /^(GET|HEAD)$/.test(request.method) && !/^\/api(\/|\?|$)/.test(request.url);
  return isPage && prefersHtml(request) ? sendHtml(reply.code(404), NOT_FOUND_PAGE) : undefined;
}
