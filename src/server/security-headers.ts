import type { FastifyInstance } from 'fastify';

/**
 * Responses may load nothing, and only the caller's own cache stores them. Pages, files and pictures set headers of their
 * own.
 */
const HEADERS = {
  'cache-control': 'private, no-cache',
  'content-security-policy': `default-src 'none';frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
};
const YEAR_SECONDS = 31_536_000;

/**
 * Sets security headers and `x-request-id` on every response. The headers are created once: @fastify/helmet creates
 * them for each request, which costs a tenth of a read.
 */
export function registerSecurityHeaders(app: FastifyInstance, https: boolean): void {
  const headers = {
    ...HEADERS,
    ...(https && { 'strict-transport-security': `max-age=${YEAR_SECONDS}; includeSubDomains` }),
  };
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id);
    done();
  });
}
