import type { FastifyInstance } from 'fastify';
import type { Endpoint } from '../../../rest-bridge/bridge.ts';
import { describe } from '../../../rest-bridge/openapi-names.ts';
import { templatePath } from '../../../rest-bridge/openapi.ts';
import { describeRelations } from '../../../rest-bridge/relations.ts';
import { ERROR_CODES, noRoute, type ErrorCode } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { CreateContext } from '../request-context.ts';
import { escapeHtml, htmlPage, sendHtml } from './html.ts';
import { requireSchemaAccess } from './schema-access.ts';

interface LinkedRoute {
  method: string;
  path: string;
  summary: string;
}
/** Pages of the relations of links. The table of routes does not contain them. */
const PAGES: Record<string, LinkedRoute> = {
  'svc:docs': { method: 'GET', path: '/api/docs', summary: 'Returns the REST reference as a page for browsers' },
  'svc:openapi': { method: 'GET', path: '/api/openapi.json', summary: 'Returns the OpenAPI document of the REST API' },
};
const toLinkedRoute = (endpoint: Endpoint): LinkedRoute => ({
  method: endpoint.row.method,
  path: templatePath(endpoint.row.path),
  summary: describe(endpoint).summary,
});

const describeRoute = ({ method, path, summary }: LinkedRoute): string =>
  `<dt><code>${method} ${escapeHtml(path)}</code></dt>
  <dd>${escapeHtml(summary)}</dd>`;

const relationPage = (rel: string, routes: readonly LinkedRoute[]): string =>
  htmlPage(
    rel,
    `<main>
  <h1>${rel}</h1>
  <p class="lead">A relation of the links in responses of the REST API. Its routes:</p>
  <dl>
  ${routes.map(describeRoute).join('\n  ')}
  </dl>
  <p><a href="/api/docs">REST reference</a></p>
</main>`,
  );

const errorCodePage = (code: ErrorCode): string =>
  htmlPage(
    code,
    `<main>
  <h1>${code}</h1>
  <p class="lead">A code of errors in both APIs.</p>
  <p>${escapeHtml(ERROR_CODES[code])}</p>
  <p><a href="/api/docs">REST reference</a></p>
</main>`,
  );

/** Registers the pages of the codes of errors, the `type` of problem details. They require no credentials. */
export function registerErrorCodePages(app: FastifyInstance): void {
  app.get<{ Params: { code: string } }>('/api/docs/errors/:code', async (request, reply) => {
    const { code } = request.params;
    if (!Object.hasOwn(ERROR_CODES, code)) throw noRoute({ method: request.method, path: request.url });
    return sendHtml(reply, errorCodePage(code as ErrorCode));
  });
}

/**
 * Registers the pages that describe the relations of links, at the addresses of `curies`. Without `PUBLIC_SCHEMA` they
 * require credentials. See docs/contract/apis.md#links.
 */
export function registerRelationPages(
  app: FastifyInstance,
  { endpoints, ...options }: { endpoints: readonly Endpoint[]; platform: Platform; createContext: CreateContext },
): void {
  // Described on demand, as GraphiQL's page is: few starts need them.
  let relations: ReturnType<typeof describeRelations> | undefined;
  app.get<{ Params: { rel: string } }>('/api/docs/relations/:rel', async (request, reply) => {
    await requireSchemaAccess(options, request, reply);
    const rel = `svc:${request.params.rel}`;
    const found = (relations ??= describeRelations(endpoints)).get(rel);
    if (!found) throw noRoute({ method: request.method, path: request.url });
    return sendHtml(reply, relationPage(rel, PAGES[rel] ? [PAGES[rel]] : found.map(toLinkedRoute)));
  });
}
