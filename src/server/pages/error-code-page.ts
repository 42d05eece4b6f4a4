import type { FastifyInstance } from 'fastify';
import { ERROR_CODES, noRoute, type ErrorCode } from '../../core/errors.ts';
import { escapeHtml, htmlPage, sendHtml } from './html.ts';

const codePage = (code: ErrorCode): string =>
  htmlPage(
    code,
    `<main>
  <h1>${code}</h1>
  <p class="lead">A code of errors in both APIs.</p>
  <p>${escapeHtml(ERROR_CODES[code])}</p>
  <p><a href="/api/docs">REST reference</a></p>
</main>`,
  );

/** Registers the pages of the codes of errors, to which `type` of problem details leads. */
export function registerErrorCodePages(app: FastifyInstance): void {
  app.get<{ Params: { code: string } }>('/api/docs/errors/:code', async (request, reply) => {
    const { code } = request.params;
    if (!Object.hasOwn(ERROR_CODES, code)) throw noRoute({ method: request.method, path: request.url });
    return sendHtml(reply, codePage(code as ErrorCode));
  });
}
