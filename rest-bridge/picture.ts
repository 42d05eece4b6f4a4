import type { FastifyReply } from 'fastify';
import { isUuid } from '../src/core/id.ts';
import type { AdapterCall } from './call.ts';
import { matchesEntityTag } from './negotiation.ts';

/** A picture as the schema returns it. */
interface Picture {
  contentType: string;
  /** Base64. */
  content: string;
  sha256: string;
}

/** What a picture may do when it is opened on its own: show itself. */
const POLICY = `default-src 'none'; img-src data:; frame-ancestors 'none'; sandbox`;
const YEAR_SECONDS = 31_536_000;
const MINUTE_SECONDS = 60;

/** Sends a field that contains a picture as its bytes, or 304 if the client has them. */
async function sendPicture({ run, request, reply }: AdapterCall, headers: Record<string, string>) {
  const { body } = await run();
  const { contentType, content, sha256 } = body as Picture;
  void reply.headers({
    ...headers,
    etag: `"${sha256}"`,
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
  });
  if (matchesEntityTag(request.headers['if-none-match'], `W/"${sha256}"`)) return reply.code(304).send();
  void reply.header('content-type', contentType);
  return Buffer.from(content, 'base64');
}

/**
 * Sends an avatar. Caches keep one with `t` in its address for a year, others for a minute. Only an id means the same user
 * for all callers, so caches that callers share keep no other. Pages of any origin may show it.
 */
export function avatarPicture(call: AdapterCall): Promise<Buffer | FastifyReply> {
  const scope = isUuid(call.params['username']!) ? 'public' : 'private';
  const age = call.query['t'] === undefined ? `max-age=${MINUTE_SECONDS}` : `max-age=${YEAR_SECONDS}, immutable`;
  return sendPicture(call, {
    'cache-control': `${scope}, ${age}`,
    'cross-origin-resource-policy': 'cross-origin',
    ...(scope === 'private' && {
      vary: [call.reply.getHeader('vary') ?? [], 'authorization, cookie'].flat().join(', '),
    }),
  });
}

/** Sends a picture that requires credentials. */
export const privatePicture = (call: AdapterCall): Promise<Buffer | FastifyReply> =>
  sendPicture(call, { 'cache-control': 'private, no-cache', 'cross-origin-resource-policy': 'same-site' });
