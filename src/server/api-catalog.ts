import type { FastifyInstance } from 'fastify';

/**
 * Registers `/.well-known/api-catalog` (RFC 9727): a link set (RFC 9264) of both APIs with their descriptions and
 * documentation. It requires no credentials. `publicUrl` is the address of the service without a slash at its end.
 */
export function registerApiCatalog(app: FastifyInstance, publicUrl: string): void {
  const link = (path: string, type: string) => [{ href: `${publicUrl}${path}`, type }];
  // As bytes, so that Fastify adds no charset, which this media type does not have.
  const body = Buffer.from(
    JSON.stringify({
      linkset: [
        {
          anchor: `${publicUrl}/api`,
          'service-desc': [
            ...link('/api/openapi.json', 'application/json'),
            ...link('/api/openapi-3.2.json', 'application/json'),
          ],
          'service-doc': link('/api/docs', 'text/html'),
          status: link('/readyz', 'application/json'),
        },
        {
          anchor: `${publicUrl}/graphql`,
          'service-desc': link('/graphql/schema.graphql', 'text/plain'),
          'service-doc': link('/graphiql', 'text/html'),
          status: link('/readyz', 'application/json'),
        },
      ],
    }),
  );
  app.get('/.well-known/api-catalog', async (_request, reply) =>
    reply
      .headers({
        'content-type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
        'cache-control': 'public, max-age=3600',
        link: '</.well-known/api-catalog>; rel="api-catalog"',
      })
      .send(body),
  );
}
