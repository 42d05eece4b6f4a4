import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Endpoint } from '../../../rest-bridge/bridge.ts';
import { openApi32 } from '../../../rest-bridge/openapi.ts';
import type { Platform } from '../../core/platform.ts';
import { isLinkOpen } from '../../services/identity/password-reset.ts';
import { contractOf, openapiOf, subgraphOf } from '../graphql/sdl.ts';
import type { CreateContext } from '../request-context.ts';
import { SESSION_COOKIE } from '../request.ts';
import { SentOften } from '../sent-often.ts';
import { registerAppAccessPage } from './app-access-page.ts';
import { homePage } from './home-page.ts';
import { HOME_SCRIPT } from './home-script.ts';
import { sendHtml, withHtmlHeaders, type ScriptPolicy } from './html.ts';
import { PAGE_STYLE } from './page-style.ts';
import { LINK_GONE_PAGE, PASSWORD_RESET_PAGE, PASSWORD_RESET_SCRIPT } from './password-reset-page.ts';
import { requireSchemaAccess } from './schema-access.ts';
import { WORKED_OPERATIONS } from './worked-operations.ts';

interface PageOptions {
  schema: GraphQLSchema;
  endpoints: readonly Endpoint[];
  platform: Platform;
  createContext: CreateContext;
}

const require = createRequire(import.meta.url);
const SWAGGER = dirname(require.resolve('swagger-ui-dist/package.json'));

const scriptHash = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

const sendScript = (reply: FastifyReply, script: string): FastifyReply =>
  reply.header('content-type', 'text/javascript; charset=utf-8').send(script);

/** Returns the hashes of the inline scripts of a page, as sources of its content security policy. */
const inlineScriptHashes = (page: string): string =>
  [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)]
    .map(([, script]) => ` ${scriptHash(script!)}`)
    .join('');

/**
 * Registers `/`, `/password-reset/{token}`, `/app-access`, `/app-access/{id}`, `/graphiql`, the SDL, the subgraph,
 * `/api/openapi.json` and `/api/docs`. The pages load nothing from other origins. See
 * docs/contract/running.md#running-it.
 */
export async function registerPages(app: FastifyInstance, options: PageOptions): Promise<void> {
  registerHome(app, options);
  registerPasswordReset(app, options);
  registerAppAccessPage(app, options.createContext);
  let graphiql: ReturnType<typeof renderGraphiqlPage> | undefined;
  app.get('/graphiql', async (request, reply) => {
    const [page, policy] = await (graphiql ??= renderGraphiqlPage());
    return page.send(request, withHtmlHeaders(reply, policy));
  });
  registerSchemaDocuments(app, options);
  await registerRestReference(app);
  // Where people look for them first.
  app.get('/docs', (_request, reply) => reply.redirect('/api/docs'));
  app.get('/openapi.json', (_request, reply) => reply.redirect('/api/openapi.json'));
}

function registerHome(app: FastifyInstance, { platform, createContext }: PageOptions): void {
  const sendsMail = platform.config.SMTP_URL !== undefined;
  app.get('/', async (request, reply) => {
    const isLoggedIn = SESSION_COOKIE in request.cookies && !!(await createContext(request, reply, 'rest')).viewer;
    return sendHtml(reply, homePage(isLoggedIn, sendsMail));
  });
  app.get('/home.js', async (_request, reply) => sendScript(reply, HOME_SCRIPT));
  app.get('/home.css', async (_request, reply) =>
    reply.header('content-type', 'text/css; charset=utf-8').send(PAGE_STYLE),
  );
  app.get('/favicon.ico', async (_request, reply) =>
    reply.header('content-type', 'image/svg+xml').header('cache-control', 'max-age=86400').send(ICON),
  );
}

function registerPasswordReset(app: FastifyInstance, { platform, createContext }: PageOptions): void {
  app.get<{ Params: { token: string } }>('/password-reset/:token', async (request, reply) => {
    // Counts the request towards the limit of its address.
    await createContext(request as FastifyRequest, reply, 'rest');
    const isOpen = await isLinkOpen(platform, request.params.token);
    return sendHtml(reply.code(isOpen ? 200 : 410), isOpen ? PASSWORD_RESET_PAGE : LINK_GONE_PAGE);
  });
  app.get('/password-reset.js', async (_request, reply) => sendScript(reply, PASSWORD_RESET_SCRIPT));
}

/**
 * Registers the documents of the schema, which are built when they are first requested. Without `PUBLIC_SCHEMA` they require credentials.
 */
function registerSchemaDocuments(app: FastifyInstance, { schema, endpoints, ...options }: PageOptions): void {
  const registerDocument = (url: string, type: string, build: () => string) => {
    let document: SentOften | undefined;
    app.get(url, async (request, reply) => {
      await requireSchemaAccess(options, request, reply);
      return (document ??= new SentOften(build())).sendTagged(request, reply.header('content-type', type));
    });
  };
  registerDocument('/graphql/schema.graphql', 'text/plain; charset=utf-8', () => contractOf(schema));
  registerDocument('/graphql/subgraph.graphql', 'text/plain; charset=utf-8', () => subgraphOf(schema));
  const { PUBLIC_URL } = options.platform.config;
  const openapi = () => ({ ...openapiOf(endpoints), ...(PUBLIC_URL && { servers: [{ url: PUBLIC_URL }] }) });
  const json = 'application/json; charset=utf-8';
  registerDocument('/api/openapi.json', json, () => JSON.stringify(openapi()));
  registerDocument('/api/openapi-3.2.json', json, () => JSON.stringify(openApi32(openapi(), endpoints)));
}

async function registerRestReference(app: FastifyInstance): Promise<void> {
  app.get('/api/docs', async (_request, reply) => sendHtml(reply, DOCS));
  app.get('/api/docs/start.js', async (_request, reply) => sendScript(reply, DOCS_SCRIPT));
  for (const [name, type] of SWAGGER_FILES) {
    let file: Promise<SentOften> | undefined;
    app.get(`/api/docs/${name}`, async (request, reply) =>
      (await (file ??= readSwagger(name))).sendTagged(request, reply.header('content-type', type)),
    );
  }
  await app.register(fastifyStatic, {
    root: SWAGGER,
    prefix: '/api/docs/',
    index: false,
    allowedPath: (path) => /^\/favicon-\d+x\d+\.png$/.test(path),
  });
}

/** The large files of the page. */
const SWAGGER_FILES = [
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
] as const;

const readSwagger = async (name: string): Promise<SentOften> => new SentOften(await readFile(join(SWAGGER, name)));

/** Renders the GraphiQL page. Returns it with its policy. Call it on demand: the module takes 46 MiB. */
async function renderGraphiqlPage(): Promise<[page: SentOften, policy: ScriptPolicy]> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const page = renderGraphiQL({
    title: 'GraphiQL',
    endpoint: '/graphql',
    subscriptionsProtocol: 'WS',
    defaultQuery: WORKED_OPERATIONS,
  });
  const scripts = `'self' 'unsafe-eval'${inlineScriptHashes(page)}`;
  return [new SentOften(page), { scripts, workers: `'self' blob:` }];
}

/** Icon with three chart bars. Browsers request `/favicon.ico` from every page. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
  '<rect width="16" height="16" rx="3" fill="#2563eb"/>' +
  '<path d="M3 8h2.5v5H3zM6.75 3h2.5v10h-2.5zM10.5 6H13v7h-2.5z" fill="#fff"/></svg>';

const DOCS = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>REST API</title>
<link rel="icon" href="/api/docs/favicon-32x32.png"><link rel="stylesheet" href="/api/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
`;

const DOCS_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
applyScheme();
dark.addEventListener('change', applyScheme);
SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  validatorUrl: null,
});
`;
