import type { AppLimit } from '../../src/core/app-access.ts';
import type { AppResponse, HandlerServices, HandlerTask, RunningApp } from '../../src/core/app-run.ts';
import { authorityOf } from '../../src/core/authority.ts';
import type { Context } from '../../src/core/context.ts';
import type { Platform } from '../../src/core/platform.ts';
import type { Viewer } from '../../src/core/viewer.ts';
import { createHandlerServices } from '../../src/services/app/handler-services.ts';
import { loadPrincipalViewer } from '../../src/services/identity/principal-viewer.ts';
import { createViewerContext } from '../../src/services/resource/viewer-context.ts';
import type { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** Address and id of the requests for which the handlers of these tests run. */
export const OUTER = { address: '203.0.113.7', id: 'outer-request' };

interface HandlerOptions {
  depth?: number;
  viewer?: Partial<Viewer>;
  platform?: Partial<Platform>;
  limits?: AppLimit[];
}

/** Returns what a handler of an app can do when `caller` called it. A caller may be a team. */
export const servicesFor = async (...args: Parameters<typeof taskFor>): Promise<HandlerServices> =>
  createHandlerServices(await taskFor(...args));

/** Returns what is needed of the task of such a handler. */
export async function taskFor(
  service: Service,
  caller: Pick<Client, 'id'> | string,
  appId: string,
  { depth = 0, viewer = {}, platform = {}, limits = [] }: HandlerOptions = {},
): Promise<Pick<HandlerTask, 'app' | 'ctx' | 'authority' | 'depth'>> {
  const app = await findApp(service, appId);
  const principal = typeof caller === 'string' ? caller : `user:${caller.id}`;
  const loaded = await loadPrincipalViewer(service.platform.system, app.tenantId, principal);
  const request: Context['request'] = {
    ...OUTER,
    channel: 'rest',
    userAgent: null,
    signal: new AbortController().signal,
    setOperation: () => undefined,
    setSession: () => undefined,
  };
  const ctx = createViewerContext({ ...service.platform, ...platform }, request, {
    ...loaded,
    ...viewer,
  });
  return { app, ctx, authority: { ...authorityOf(ctx.viewer, 'post'), limits }, depth };
}

async function findApp(service: Service, appId: string): Promise<RunningApp> {
  const [app] = await systemQuery<Record<string, unknown> & Omit<RunningApp, 'releaseId' | 'env'>>(
    service,
    `select a.id, a.tenant_id as "tenantId", t.slug as tenant, a.slug, a.name, a.owner_id as "ownerId", a.accepted
    from dws.app a
    join dws.tenant t on t.id = a.tenant_id
    where a.id = $1`,
    appId,
  );
  return { ...app!, releaseId: appId, env: null };
}

/** A response whose body is parsed if it is JSON. */
export interface ParsedResponse extends Pick<AppResponse, 'status' | 'headers'> {
  body: any;
}

/** Sends a request of a handler to the API. An object is sent as JSON. */
export async function callApi(
  { fetch }: HandlerServices,
  method: string,
  url: string,
  body?: object,
  { headers = {}, signal = new AbortController().signal }: { headers?: object; signal?: AbortSignal } = {},
): Promise<ParsedResponse> {
  const request = {
    method,
    url,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    body: body ? Buffer.from(JSON.stringify(body)) : null,
  };
  return parse(await fetch(request, signal));
}

/** Parses the body of a response if it is JSON. */
export function parse({ status, headers, body }: AppResponse): ParsedResponse {
  const text = Buffer.from(body).toString();
  return { status, headers, body: text !== '' && /json/.test(headers['content-type'] ?? '') ? JSON.parse(text) : text };
}
