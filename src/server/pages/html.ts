import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sources that the scripts of a page may use: `script-src` and `worker-src`. */
export interface ScriptPolicy {
  scripts: string;
  workers: string;
}

/** Returns the content security policy. Inline styles are allowed, since GraphiQL and Swagger UI use them. */
const securityPolicy = ({ scripts, workers }: ScriptPolicy) =>
  [
    `default-src 'self'`,
    `script-src ${scripts}`,
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data:`,
    `font-src 'self' data:`,
    // With the sockets of this origin.
    `connect-src 'self'`,
    `worker-src ${workers}`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
    `form-action 'self'`,
  ].join('; ');

/** Returns a page of the service. `head` and `bodyAttributes` are HTML that is added there. */
export const htmlPage = (
  title: string,
  body: string,
  { head = '', bodyAttributes = '' }: { head?: string; bodyAttributes?: string } = {},
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
${head}<title>${title}</title><link rel="stylesheet" href="/home.css">
</head>
<body${bodyAttributes}>
${body}
</body>
</html>
`;

/** Returns a text as HTML, for contents of elements and attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const createCard = (href: string, name: string, text: string): string =>
  `<a href="${href}"><strong>${name}</strong><span>${text}</span></a>`;

/** Links to the pages of the service, for a `<nav>`. */
export const CARDS = {
  home: createCard('/', 'Home', 'Log in and find the other pages'),
  login: createCard('/', 'Log in', 'Or choose “Forgot password” for a new link'),
  graphiql: createCard('/graphiql', 'GraphiQL', 'Try queries, mutations and subscriptions'),
  docs: createCard('/api/docs', 'REST reference', 'Every route, with parameters and responses'),
  schema: createCard('/graphql/schema.graphql', 'GraphQL schema', 'For code generators and registries'),
  subgraph: createCard('/graphql/subgraph.graphql', 'Federation subgraph', 'For a federation 2 gateway'),
  openapi: createCard('/api/openapi.json', 'OpenAPI 3.1', 'The REST contract as JSON'),
};

/**
 * Sends a page. Browsers do not store it: the page at `/` differs with the session, even when a person goes back. Only its
 * scripts run, because the responses of apps have the same origin; so each gets a nonce, and the page must
 * contain no markup of others.
 */
export function sendHtml(reply: FastifyReply, page: string): FastifyReply {
  const nonce = randomBytes(16).toString('base64url');
  const scripts = page.includes('<script') ? `'nonce-${nonce}' 'strict-dynamic'` : `'none'`;
  return withHtmlHeaders(reply, { scripts, workers: `'none'` }).send(
    page.replaceAll('<script', `<script nonce="${nonce}"`),
  );
}

/** Sets the headers of a page, and returns the reply. */
export const withHtmlHeaders = (reply: FastifyReply, policy: ScriptPolicy): FastifyReply =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', securityPolicy(policy))
    .header('cache-control', 'no-store');

/** Returns whether the client is a browser that opens a page: it accepts HTML and does not name JSON. */
export const prefersHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /\btext\/html\b/i.test(accept) && !/\bjson\b/i.test(accept);
