import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BridgeContext, RestResponse } from './call.ts';
import { entityTag, matchesEntityTag } from './negotiation.ts';

/**
 * Sends a response: with its ETag, or 304 when the client has that version; no body for a 204. The tag of anything but a
 * single record is keyed by the caller, so that it does not reveal whether others see the same.
 */
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
  if (status === 200 && request.method !== 'POST' && (single || isRead(request)) && !reply.hasHeader('etag')) {
    const tag = entityTag(version, single ? text : `${callerOf(request)} ${text}`);
    reply.header('etag', tag);
    if (request.method !== 'PUT' && matchesEntityTag(request.headers['if-none-match'], tag))
      return reply.code(304).send();
  }
  reply.header('content-type', type);
  return text;
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

const callerOf = ({ bridgeContext }: FastifyRequest): string =>
  (bridgeContext as BridgeContext | null)?.viewer?.userId ?? '';
