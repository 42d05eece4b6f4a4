import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Endpoint } from '../../../rest-bridge/bridge.ts';
import { unauthenticated } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import { contractOf, openapiOf, subgraphOf } from '../graphql/sdl.ts';
import type { CreateContext } from '../request-context.ts';
import { HOME_SCRIPT, HOME_STYLE, homePage } from './home-page.ts';
import { PASSWORD_RESET_PAGE, PASSWORD_RESET_SCRIPT } from './password-reset-page.ts';

export interface PageOptions {
  schema: GraphQLSchema;
  endpoints: Endpoint[];
  platform: Platform;
  makeContext: CreateContext;
}

const require = createRequire(import.meta.url);
const SWAGGER = dirname(require.resolve('swagger-ui-dist/package.json'));

/** Pages may run scripts and styles of this origin only; GraphiQL and Swagger bring inline styles. */
const policy = (inline: string) =>
  `default-src 'self'; script-src 'self'${inline}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws: wss:; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`;

const hashOf = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

const html = (reply: FastifyReply, page: string, inline = ''): FastifyReply =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy(inline))
    .header('cache-control', 'no-cache')
    .send(page);

/** Every inline script of a page we render, allowed by its hash: nothing else may run inline. */
const inlineScripts = (page: string): string =>
  [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)]
    .map(([, script]) => ` ${hashOf(script!)}`)
    .join('');

/** `/`, `/password-reset/{token}`, `/graphiql`, the SDL, the subgraph, `/api/openapi.json` and `/api/docs`: served from this origin, without any other (contract 1). */
export async function pageRoutes(
  app: FastifyInstance,
  { schema, endpoints, platform, makeContext }: PageOptions,
): Promise<void> {
  const home = homePage();
  app.get('/', async (_request, reply) => html(reply, home));
  app.get('/home.js', async (_request, reply) =>
    reply.header('content-type', 'text/javascript; charset=utf-8').send(HOME_SCRIPT),
  );
  app.get('/home.css', async (_request, reply) =>
    reply.header('content-type', 'text/css; charset=utf-8').send(HOME_STYLE),
  );
  app.get('/favicon.ico', async (_request, reply) =>
    reply.header('content-type', 'image/svg+xml').header('cache-control', 'max-age=86400').send(ICON),
  );
  app.get('/password-reset/:token', async (_request, reply) => html(reply, PASSWORD_RESET_PAGE));
  app.get('/password-reset.js', async (_request, reply) =>
    reply.header('content-type', 'text/javascript; charset=utf-8').send(PASSWORD_RESET_SCRIPT),
  );
  let graphiql: ReturnType<typeof renderedGraphiql> | undefined;
  app.get('/graphiql', async (_request, reply) => html(reply, ...(await (graphiql ??= renderedGraphiql()))));

  const document = async (url: string, type: string, text: string) => {
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    app.get(url, async (request, reply) => {
      if (!platform.config.PUBLIC_SCHEMA && !(await makeContext(request, reply, 'graphql')).viewer)
        throw unauthenticated();
      reply.header('etag', etag).header('cache-control', 'no-cache');
      if (request.headers['if-none-match']?.split(/\s*,\s*/).includes(etag)) return reply.code(304).send();
      return reply.header('content-type', type).send(text);
    });
  };
  await document('/graphql/schema.graphql', 'text/plain; charset=utf-8', contractOf(schema));
  await document('/graphql/subgraph.graphql', 'text/plain; charset=utf-8', subgraphOf(schema));
  await document('/api/openapi.json', 'application/json; charset=utf-8', JSON.stringify(openapiOf(endpoints)));

  app.get('/api/docs', async (_request, reply) => html(reply, DOCS));
  app.get('/api/docs/start.js', async (_request, reply) =>
    reply.header('content-type', 'text/javascript; charset=utf-8').send(DOCS_SCRIPT),
  );
  await app.register(fastifyStatic, {
    root: SWAGGER,
    prefix: '/api/docs/',
    index: false,
    allowedPath: (path) => /^\/swagger-ui(-bundle)?\.(css|js)$|^\/favicon-\d+x\d+\.png$/.test(path),
  });
}

/** GraphiQL and what its policy allows inline. Rendered when somebody first asks: its module alone holds 46 MiB. */
async function renderedGraphiql(): Promise<[page: string, inline: string]> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const page = renderGraphiQL({
    title: 'GraphiQL',
    endpoint: '/graphql',
    subscriptionsProtocol: 'WS',
    defaultQuery: '{\n  session {\n    tenant\n    user { username }\n  }\n}\n',
  });
  return [page, ` 'unsafe-eval'${inlineScripts(page)}`];
}

/** Three bars of a chart; browsers ask for it by this name whatever a page says. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#2563eb"/><path d="M3 8h2.5v5H3zM6.75 3h2.5v10h-2.5zM10.5 6H13v7h-2.5z" fill="#fff"/></svg>';

const DOCS = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>REST API</title>
<link rel="icon" href="/api/docs/favicon-32x32.png"><link rel="stylesheet" href="/api/docs/swagger-ui.css"></head>
<body><div id="docs"></div><script src="/api/docs/swagger-ui-bundle.js"></script><script src="/api/docs/start.js"></script></body></html>
`;

const DOCS_SCRIPT = `SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#docs', deepLinking: true, docExpansion: 'none', filter: true, validatorUrl: null });
`;
