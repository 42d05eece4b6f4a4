import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BridgeContext, RestResponse } from './call.ts';
import { entityTag, matchesEntityTag } from './negotiation.ts';

/** Sends a response: its status and headers, and its body as `sendText` does; no body for a 204. */
export function sendResponse(
  { status, body, headers, version, single = false }: RestResponse,
  type: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | string {
  if (headers) reply.headers(headers);
  if (status !== 200) reply.code(status);
  return body === undefined
    ? reply.send()
    : sendText({ text: JSON.stringify(body), version, single }, type, request, reply);
}

/** The text of a body, and the version of a single record. */
interface Body {
  text: string;
  version?: number | undefined;
  single?: boolean;
}

/**
 * Sends a body with its ETag, or 304 when a client that reads has it. A single record has a tag after a PUT too, for its
 * next change. The tags of other bodies differ between callers.
 */
export function sendText(
  { text, version, single = false }: Body,
  type: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | string {
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const isTagged = reads ? !reply.hasHeader('etag') : single && request.method === 'PUT';
  if (reply.statusCode === 200 && isTagged) {
    const tag = entityTag(version, single ? text : `${callerOf(request)} ${text}`);
    reply.header('etag', tag);
    if (reads && matchesEntityTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  }
  reply.header('content-type', type);
  return text;
}

const callerOf = ({ bridgeContext }: FastifyRequest): string =>
  (bridgeContext as BridgeContext | null)?.viewer?.userId ?? '';
