import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Returns the content security policy: scripts and styles of this origin only, and the inline scripts allowed by
 * `inlineSources`. Inline styles are allowed, since GraphiQL and Swagger UI use them.
 */
const securityPolicy = (inlineSources: string) =>
  [
    `default-src 'self'`,
    `script-src 'self'${inlineSources}`,
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data:`,
    `font-src 'self' data:`,
    `connect-src 'self' ws: wss:`,
    `worker-src 'self' blob:`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
    `form-action 'self'`,
  ].join('; ');

/** Sends a page. */
export const sendHtml = (reply: FastifyReply, page: string, inlineSources = ''): FastifyReply =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', securityPolicy(inlineSources))
    .header('cache-control', 'no-cache')
    .send(page);

/** Returns whether the client is a browser that opens a page: it accepts HTML and does not name JSON. */
export const prefersHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /\btext\/html\b/i.test(accept) && !/\bjson\b/i.test(accept);
