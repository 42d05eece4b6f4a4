import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RestResponse } from './call.ts';
import { entityTag, matchesEntityTag } from './negotiation.ts';

/** Sends a response: a record with its ETag, or 304 when the client has that version; no body for a 204. */
export function sendResponse(
  { status, body, headers, version, single }: RestResponse,
  type: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | string {
  if (headers) reply.headers(headers);
  if (status !== 200) reply.code(status);
  if (body === undefined) return reply.send();
  const text = JSON.stringify(body);
  if (single && status === 200 && request.method !== 'POST') {
    const tag = entityTag(version, text);
    reply.header('etag', tag);
    if (request.method !== 'PUT' && matchesEntityTag(request.headers['if-none-match'], tag))
      return reply.code(304).send();
  }
  reply.header('content-type', type);
  return text;
}
