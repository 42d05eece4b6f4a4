import type { FastifyInstance } from 'fastify';
import type { Endpoint } from '../../../rest-bridge/bridge.ts';
import { templatePath } from '../../../rest-bridge/openapi.ts';
import { describeRelations } from '../../../rest-bridge/relations.ts';
import { noRoute } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { CreateContext } from '../request-context.ts';
import { htmlPage, sendHtml } from './html.ts';
import { requireSchemaAccess } from './schema-access.ts';

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const describeRoute = ({ row, plan }: Endpoint): string =>
  `<dt><code>${row.method} ${escapeHtml(templatePath(row.path))}</code></dt>
  <dd>${escapeHtml(plan?.chain.at(-1)!.field.description ?? '')}</dd>`;

const relationPage = (rel: string, endpoints: readonly Endpoint[]): string =>
  htmlPage(
    rel,
    `<main>
  <h1>${rel}</h1>
  <p class="lead">A relation of the links in responses of the REST API. Its routes:</p>
  <dl>
  ${endpoints.map(describeRoute).join('\n  ')}
  </dl>
  <p><a href="/api/docs">REST reference</a></p>
</main>`,
  );

/**
 * Registers the pages that describe the relations of links, to which `curies` leads. Without `PUBLIC_SCHEMA` they
 * require credentials. See docs/contract.md#links.
 */
export function registerRelationPages(
  app: FastifyInstance,
  { endpoints, ...options }: { endpoints: readonly Endpoint[]; platform: Platform; createContext: CreateContext },
): void {
  const relations = describeRelations(endpoints);
  app.get<{ Params: { rel: string } }>('/api/docs/relations/:rel', async (request, reply) => {
    await requireSchemaAccess(options, request, reply);
    const rel = `svc:${request.params.rel}`;
    const found = relations.get(rel);
    if (!found) throw noRoute({ method: request.method, path: request.url });
    return sendHtml(reply, relationPage(rel, found));
  });
}
