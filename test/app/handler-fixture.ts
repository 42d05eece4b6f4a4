import type { AppRoute } from '../../entities/app-release.ts';
import type { AppRequest, HandlerOutcome, HandlerTask, RunningApp } from '../../src/core/app-run.ts';
import { authorityOf } from '../../src/core/authority.ts';
import type { Context } from '../../src/core/context.ts';
import { runHandler } from '../../src/services/app/handler-run.ts';
import { loadPrincipalViewer } from '../../src/services/identity/principal-viewer.ts';
import { createViewerContext } from '../../src/services/resource/viewer-context.ts';
import type { World } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { createApp } from './app-fixture.ts';

/** Changes of a test to a request. */
interface GivenRequest extends Partial<Omit<AppRequest, 'body'>> {
  body?: string | Uint8Array;
  params?: Record<string, string>;
  depth?: number;
  signal?: AbortSignal;
  roles?: HandlerTask['roles'];
  visitorId?: string;
}

/** An app with a release, whose handlers a test runs without HTTP. */
export interface DeployedApp {
  id: string;
  app: RunningApp;
  routes: AppRoute[];
  /** Runs the handler of a module below `server` or `webhooks`. */
  run(module: string, request?: GivenRequest): Promise<HandlerOutcome>;
  /** Runs a handler that returns a response. Returns its status, its headers, and its body as text and as JSON. */
  respond(module: string, request?: GivenRequest): Promise<HandlerResponse>;
  /** Runs a handler that fails. Returns its error. */
  fail(module: string, request?: GivenRequest): Promise<{ status: number; code: string; message: string }>;
}

interface HandlerResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
  json: any;
}

/** Creates and deploys an app with files. */
export async function deployApp(
  { admin, service }: Pick<World, 'admin' | 'service'>,
  name: string,
  files: Record<string, string>,
  env: Record<string, string> = {},
): Promise<DeployedApp> {
  const id = await createApp(admin, name, files);
  if (Object.keys(env).length > 0) await admin.put(`/apps/${id}`, { env });
  const { status, body } = await admin.post(`/apps/${id}/_deploy`);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  const app = await loadApp(service.databaseUrl, id);
  const routes = [...body.routes, ...body.webhooks] as AppRoute[];
  const { platform } = service;
  const viewer = await loadPrincipalViewer(platform.system, app.tenantId, app.ownerId);
  const run = (module: string, request: GivenRequest = {}) => {
    const signal = request.signal ?? new AbortController().signal;
    const ctx = createViewerContext(platform, { signal } as Context['request'], viewer);
    return runHandler(platform, taskOf(ctx, app, routes, module, request));
  };
  return {
    id,
    app,
    routes,
    run,
    respond: async (module, request) => {
      const { result } = await run(module, request);
      if ('failure' in result) throw result.failure;
      const text = Buffer.from(result.response.body).toString();
      const isJson = result.response.headers['content-type']?.startsWith('application/json');
      return { ...result.response, text, json: isJson ? JSON.parse(text) : undefined };
    },
    fail: async (module, request) => {
      const { result } = await run(module, request);
      if ('response' in result) throw new Error(`The handler returned ${result.response.status}`);
      const { status: code, code: name, message } = result.failure;
      return { status: code, code: name, message };
    },
  };
}

async function loadApp(databaseUrl: string, id: string): Promise<RunningApp> {
  const [row] = await runSql(
    databaseUrl,
    `
      select a.id, a.tenant_id as "tenantId", t.slug as tenant, a.slug, a.name, a.owner_id as "ownerId",
        r.id as "releaseId", a.env
      from dws.app a
      join dws.tenant t on t.id = a.tenant_id
      join dws.app_release r on r.app_id = a.id and r.active
      where a.id = $1`,
    [id],
  );
  return row as unknown as RunningApp;
}

function taskOf(
  ctx: Context,
  app: RunningApp,
  routes: readonly AppRoute[],
  module: string,
  { method = 'get', body = '', params = {}, depth = 0, roles = ['viewer'], visitorId, ...request }: GivenRequest,
): HandlerTask {
  const route = routes.find((one) => one.handlerPath === module && one.method === method);
  if (!route) throw new Error(`There is no handler ${method} in ${module}`);
  return {
    app,
    route,
    params,
    request: { method, path: route.path, query: {}, headers: {}, ...request, body: Buffer.from(body) },
    ctx,
    authority: authorityOf(ctx.viewer, method),
    user: { id: '019a0000-0000-7000-8000-000000000001', name: 'ann', type: 'user', username: 'ann' },
    roles,
    depth,
    visitorId,
  };
}

/** Returns a module with a handler of `post`, whose body has everything of its argument. */
export const bodyOf = (body: string) => `export async function post(app) {
  const { query, transaction, context, respond, crypto, markdown, log, env, base64Encode, base64Decode, request } = app;
  ${body}
}`;

/** Returns modules below `server` with such handlers, by their names. */
export const withBodies = <K extends string>(bodies: Record<K, string>) =>
  Object.fromEntries(Object.entries<string>(bodies).map(([name, body]) => [`server/${name}.js`, bodyOf(body)]));

/** Runs such a handler. */
export const post = (app: DeployedApp, name: string, request = {}) =>
  app.respond(`server/${name}.js`, { method: 'post', ...request });
