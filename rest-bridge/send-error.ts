import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { logFailure } from '../src/core/log-failure.ts';
import { closeAfterResponse, discardRest, DISCARD_MS } from './closing-connections.ts';
import { errorResponse, toProblem, type ErrorBody } from './error-response.ts';
import { acceptsProblems } from './negotiation.ts';
import { pathOf } from './page-links.ts';

/** Sends the page of an error, with its message, to a browser. Returns false for other clients, who get JSON. */
export type SendErrorPage = (request: FastifyRequest, reply: FastifyReply, message: string, error: Error) => boolean;

/** Sends the response to an error: the only place that does. */
export function sendError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  sendBody(request, reply, prepareError(error, request, reply));
}

/** Sets status and headers of the response to an error. Returns its body. Logs unexpected exceptions with their stack. */
function prepareError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): ErrorBody {
  const { status, headers, body } = errorResponse(error, request.id);
  if (body.code === 'INTERNAL') {
    const err = (error as { originalError?: Error }).originalError ?? error;
    logFailure(request.log, { requestId: request.id, err }, 'Request failed', reply.raw.destroyed);
  }
  const closes = reply.getHeader('connection') === 'close' || !reply.raw.shouldKeepAlive;
  if (!request.raw.complete && !request.raw.destroyed) {
    discardRest(request.raw);
    // The connection would close before a client that is still sending its body has read the response.
    if (closes) closeAfterResponse(reply.removeHeader('connection').raw, request.raw, DISCARD_MS);
  }
  // A stream that failed before its first byte may have set these.
  for (const name of ['content-encoding', 'content-disposition']) reply.removeHeader(name);
  reply.code(status).headers(headers);
  return body;
}

/** Sends the body as the client accepts it: as JSON, or as problem details. */
function sendBody(request: FastifyRequest, reply: FastifyReply, body: ErrorBody): void {
  const asProblem = acceptsProblems(request.headers.accept);
  const shown = asProblem ? toProblem(body, { path: pathOf(request.url), requestId: request.id }) : body;
  void reply
    .header('content-type', `application/${asProblem ? 'problem+' : ''}json; charset=utf-8`)
    .send(JSON.stringify(shown));
}

/** Creates the error handler of a row that browsers open. */
export const createPageErrorHandler =
  (sendPage?: SendErrorPage) =>
  (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void => {
    const body = prepareError(error, request, reply);
    if (!sendPage?.(request, reply, body.message, error)) sendBody(request, reply, body);
  };
