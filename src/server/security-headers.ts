import type { FastifyInstance } from 'fastify';

/** Nothing but the pages may load anything; they bring a policy of their own. */
const HEADERS = {
  'content-security-policy': `default-src 'none';frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
};
const YEAR_SECONDS = 31_536_000;

/** Security headers and `x-request-id` on every answer. They are one object made at the start: @fastify/helmet makes its own anew for each request, at a tenth of the cost of a read. */
export function sendSecurityHeaders(app: FastifyInstance, https: boolean): void {
  const headers = { ...HEADERS, ...(https && { 'strict-transport-security': `max-age=${YEAR_SECONDS}; includeSubDomains` }) };
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id);
    done();
  });
}
