import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppRequest, AppResponse, ReceiveBody } from '../src/core/app-run.ts';
import { ApiError, badInput, refused, tooLarge } from '../src/core/errors.ts';
import { isHiddenFromApps } from '../src/core/http-headers.ts';
import type { AdapterCall, BridgeContext } from './call.ts';

/** Number of segments before the path below `view` or `_hook`: `/api/apps/<id>/view`. */
const SEGMENTS_BEFORE = 5;
/** What a response of an app may do when it is opened in a browser: show itself, with no rights of the origin. */
const HEADERS = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' };

/** What browsers load as code or as a part of a page, by their names for it. */
const CODE: ReadonlySet<string> = new Set(
  'audioworklet embed json manifest object paintworklet script serviceworker sharedworker style worker xslt'.split(' '),
);

/** Passes a request below `view` or `_hook` to the handler of an app, and sends its response. */
export async function passToApp({ context, request, reply, params }: AdapterCall): Promise<FastifyReply> {
  const { runApp } = context as BridgeContext;
  if (CODE.has(String(request.headers['sec-fetch-dest'])))
    throw refused('A response of an app is never a script, style or worker of a page');
  const response = await runApp!(params['id']!, toAppRequest(request), (maxBytes) => receiveBody(request, maxBytes));
  return sendAppResponse(reply, response);
}

/** Returns a request as handlers get it, without its body. Throws BAD_USER_INPUT for malformed percent-encoding. */
function toAppRequest({ method, url, headers, query }: FastifyRequest): AppRequest {
  const shown = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || isHiddenFromApps(name) ? [] : [[name, [value].flat().join(', ')] as const],
  );
  return {
    method: method.toLowerCase(),
    path: pathOf(url),
    query: query as AppRequest['query'],
    // Without a prototype: apps name headers, which may be called `constructor`.
    headers: Object.assign(Object.create(null), Object.fromEntries(shown)) as Record<string, string>,
    body: new Uint8Array(),
  };
}

function pathOf(url: string): string {
  const segments = url.split('?', 1)[0]!.split('/').slice(SEGMENTS_BEFORE);
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

/** Receives a body. After an error the rest of it is discarded, so that the client can read the response. */
async function receiveBody(request: FastifyRequest, maxBytes: Parameters<ReceiveBody>[0]): Promise<Uint8Array> {
  const { raw, body, headers } = request;
  const stream = body instanceof Readable ? body : raw;
  try {
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      size += part.length;
      if (size > maxBytes) throw bodyTooLarge(maxBytes);
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    stream.resume();
    throw error instanceof ApiError ? error : badInput('The body was not received completely', { cause: error });
  }
}

/** Sends the response of a handler. Headers that the service has set stay. */
function sendAppResponse(reply: FastifyReply, { status, headers, body }: AppResponse): FastifyReply {
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (key === 'vary') void reply.header(key, [reply.getHeader(key) ?? [], value].flat().join(', '));
    else if (!reply.hasHeader(key)) void reply.header(key, value);
  }
  if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
  void reply.code(status).headers(HEADERS);
  // These statuses have no body.
  return status === 204 || status === 304 ? reply.send() : reply.send(Buffer.from(body));
}
