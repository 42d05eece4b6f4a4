import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppRequest, AppResponse, BodyReceipt } from '../src/core/app-run.ts';
import type { Confinement } from '../src/core/authority.ts';
import { ApiError, badInput, refused, tooLarge } from '../src/core/errors.ts';
import { isHiddenFromApps, toPrivateCacheControl } from '../src/core/http-headers.ts';
import type { AdapterCall, BridgeContext } from './call.ts';
import { closeAfterResponse } from './closing-connections.ts';
import { confineResponse } from './confined-response.ts';

/** Number of segments before the path of the app: of `/api/apps/<id>/view`, and of `/api/hooks/<token>`. */
const SEGMENTS = { id: 5, token: 4 };
/** Headers by which a browser would send a part of a response with its next request to the app. */
const RETURNED: ReadonlySet<string> = new Set(['cache-control', 'etag', 'expires', 'last-modified']);

/** Destinations of requests of browsers for code or for parts of a page. */
const CODE: ReadonlySet<string> = new Set(
  'audioworklet embed json manifest object paintworklet script serviceworker sharedworker style worker xslt'.split(' '),
);

/** Passes a request below `view` or `_hook` to the handler of an app, and sends its response. */
export async function passToApp({ context, request, reply, params }: AdapterCall): Promise<FastifyReply> {
  const { runApp, sendRedirectPage } = context as BridgeContext;
  if (CODE.has(String(request.headers['sec-fetch-dest'])))
    throw refused('A response of an app is never a script, style or worker of a page');
  const { id, token } = params;
  const segments = token === undefined ? SEGMENTS.id : SEGMENTS.token;
  const response = await runApp!(token ?? id!, toAppRequest(request, segments), (maxBytes, receipt) =>
    receiveBody(request, reply, { maxBytes, receipt }),
  );
  const { location } = response.headers;
  const isRedirect = response.status >= 300 && response.status < 400 && location !== undefined;
  if (isRedirect && sendRedirectPage?.(request, reply, location, response.confinement)) return reply;
  return sendAppResponse(reply, response.confinement ? confineResponse(response) : response);
}

/** Returns a request as handlers get it, without its body. Throws BAD_USER_INPUT for malformed percent-encoding. */
function toAppRequest({ method, url, headers, query }: FastifyRequest, segments: number): AppRequest {
  const shown = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || isHiddenFromApps(name) ? [] : [[name, [value].flat().join(', ')] as const],
  );
  return {
    method: method.toLowerCase(),
    path: pathOf(url, segments),
    query: query as AppRequest['query'],
    // Without a prototype: apps name headers, which may be called `constructor`.
    headers: Object.assign(Object.create(null), Object.fromEntries(shown)) as Record<string, string>,
    body: new Uint8Array(),
  };
}

function pathOf(url: string, segmentsBefore: number): string {
  const segments = url.split('?', 1)[0]!.split('/').slice(segmentsBefore);
  if (segments.at(-1) === '') segments.pop();
  try {
    const decoded = segments.map((segment) =>
      decodeURIComponent(segment).replaceAll('%', '%25').replaceAll('/', '%2F'),
    );
    return `/${decoded.join('/')}`;
  } catch {
    throw badInput('The path is not well-formed percent-encoding');
  }
}

const bodyTooLarge = (maxBytes: number) => tooLarge(`The body is larger than the maximum of ${maxBytes} bytes`);

/**
 * Receives a body. After an error the rest of it is discarded, so that the client can read the response. If it was stopped,
 * the connection closes.
 */
async function receiveBody(
  { raw, body, headers }: FastifyRequest,
  reply: FastifyReply,
  { maxBytes, receipt }: { maxBytes: number; receipt: BodyReceipt },
): Promise<Uint8Array> {
  const stream = body instanceof Readable ? body : raw;
  try {
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
    const received = await readBody(stream, maxBytes, receipt);
    receipt.complete();
    return received;
  } catch (error) {
    stream.resume();
    const isStopped = error instanceof ApiError && error.status !== 413;
    if (isStopped && !stream.readableEnded && !stream.destroyed) closeAfterResponse(reply.raw, stream, receipt.closeMs);
    throw error instanceof ApiError ? error : badInput('The body was not received completely', { cause: error });
  }
}

/** Reads a stream until its end, or until the receipt stops it. */
function readBody(stream: Readable, maxBytes: number, receipt: BodyReceipt): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  let parts: Uint8Array[] = [];
  let size = 0;
  const fail = (error: Error) => {
    stream.off('data', add);
    parts = [];
    reject(error);
  };
  const add = (part: Uint8Array) => {
    try {
      size += part.length;
      if (size > maxBytes) throw bodyTooLarge(maxBytes);
      receipt.received(part.length);
      parts.push(part);
    } catch (error) {
      fail(error as Error);
    }
  };
  const incomplete = () => fail(new Error('The connection was closed'));
  receipt.onStop(fail);
  stream.once('end', () => resolve(Buffer.concat(parts)));
  stream.on('error', fail).once('close', incomplete);
  if (stream.readableEnded) resolve(Buffer.concat(parts));
  else if (stream.destroyed) incomplete();
  else stream.on('data', add);
  return promise;
}

/**
 * Returns what a browser may do with a response of an app: show it, with no rights of the origin. A response that may
 * contain data that the app has read with the rights of its caller loads nothing, because addresses could contain this
 * data.
 */
function securityHeaders(confinement: Confinement | undefined): Record<string, string> {
  const headers = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' };
  if (!confinement) return headers;
  const sources = [...(confinement.mayKeep ? ["'self'"] : []), ...confinement.hosts.map((host) => `https://${host}`)];
  const policy = ['sandbox', "default-src 'none'"];
  for (const [kind, own] of [
    ['img', 'data:'],
    ['style', "'unsafe-inline'"],
    ['font', 'data:'],
    ['media', 'data:'],
  ] as const)
    policy.push([`${kind}-src`, own, ...sources].join(' '));
  return { ...headers, 'content-security-policy': policy.join('; '), 'x-dns-prefetch-control': 'off' };
}

/** Sends the response of a handler, as only its caller may store it. Headers that the service has set stay. */
function sendAppResponse(reply: FastifyReply, { status, headers, body, confinement }: AppResponse): FastifyReply {
  let caching = 'no-store';
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (confinement && !confinement.mayKeep && RETURNED.has(key)) continue;
    if (key === 'vary') void reply.header(key, [reply.getHeader(key) ?? [], value].flat().join(', '));
    else if (key === 'cache-control') caching = toPrivateCacheControl(value);
    else if (!reply.hasHeader(key)) void reply.header(key, value);
  }
  void reply.header('cache-control', caching);
  void reply.code(status).headers(securityHeaders(confinement));
  // These statuses have no body.
  return status === 204 || status === 304 ? reply.send() : reply.send(Buffer.from(body));
}
