import type { AppResponse, HandlerFetch, HandlerTask } from '../../core/app-run.ts';
import {
  apiIssue,
  ConsentRequired,
  limitViewer,
  markReceived,
  requestIssue,
  sendOutside,
} from '../../core/authority.ts';
import { badInput, unavailable, type ApiError } from '../../core/errors.ts';
import { headerIssue, isOfConnection } from '../../core/http-headers.ts';
import { MAX_FETCHED_BYTES } from '../../core/internal-api.ts';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The beginning of an absolute URL; blanks before it do not count in URLs. */
const SCHEME = /^\s*[a-z][a-z0-9+.-]*:/i;
/** Stands for the service, to resolve paths. */
const BASE = 'http://service.invalid';

/**
 * Sends a request of a handler: one for a path to the REST API, with the rights of the caller, and one for a URL to its
 * host, without credentials. Throws BAD_USER_INPUT for a request that is not valid, and like the clients that send it.
 */
export async function fetchForHandler(
  { ctx: { platform, viewer, request: outer }, authority, depth }: Pick<HandlerTask, 'ctx' | 'authority' | 'depth'>,
  { url, headers, body, followsRedirects = true, ...rest }: HandlerFetch,
  signal: AbortSignal,
): Promise<AppResponse> {
  const method = rest.method.toUpperCase();
  if (!METHODS.has(method)) throw badInput(`fetch does not support the method ${method}`);
  const refusal = requestIssue(authority, method);
  if (refusal) throw refusal;
  if (body !== null && (method === 'GET' || method === 'HEAD')) throw badInput(`A request with ${method} has no body`);
  for (const [name, value] of Object.entries(headers)) {
    const issue = headerIssue(name, value);
    if (issue !== undefined) throw badInput(`The header ${JSON.stringify(name)} ${issue}`);
  }
  const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !isOfConnection(name.toLowerCase())));
  if (SCHEME.test(url)) {
    const call = {
      method,
      headers: sent,
      body,
      maxBytes: MAX_FETCHED_BYTES,
      // A redirect leads to a host that was not checked: the handler asks for it itself.
      followsRedirects: followsRedirects && authority.limits.length === 0,
    };
    return sendOutside(authority, { url, signal }, async (ending) =>
      receive(await platform.outbound.fetch(url, { ...call, signal: ending })),
    );
  }
  if (!platform.internalApi) throw unavailable('This process of the service has no API');
  const path = toApiPath(url);
  const issue = apiIssue(authority, method);
  if (issue) return refusalOf(issue);
  await markReceived(authority);
  return platform.internalApi.call({
    viewer: limitViewer(viewer, authority),
    address: outer.address,
    requestId: outer.id,
    authority,
    depth,
    request: { url: path, method, headers: sent, body },
    signal,
  });
}

/** Returns the API's response to a request that the authority of a run does not allow. */
function refusalOf(error: ApiError): AppResponse {
  const { status, code, message } = error;
  const consent = error instanceof ConsentRequired ? { consent: error.consent } : {};
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify({ statusCode: status, error: 'Forbidden', message, code, ...consent })),
  };
}

/** Returns a path as URLs resolve it, from `/api/`. Throws BAD_USER_INPUT for one that is not below it. */
function toApiPath(path: string): string {
  const url = URL.parse(path, `${BASE}/api/`);
  if (url?.origin !== BASE || !url.pathname.startsWith('/api/'))
    throw badInput(`A path must start with /api/, not as ${JSON.stringify(path.slice(0, 100))}`);
  return url.pathname + url.search;
}

/** Receives a response. Headers about the encoding are left out, since the body is decoded. */
async function receive(response: Response): Promise<AppResponse> {
  const headers: Record<string, string> = {};
  for (const [name, value] of response.headers)
    if (!isOfConnection(name) && name !== 'content-encoding')
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  return { status: response.status, headers, body: new Uint8Array(await response.arrayBuffer()) };
}
