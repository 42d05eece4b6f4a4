import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { isUuid } from '../src/core/id.ts';
import type { AdapterCall } from './call.ts';
import { receiveBytes, type ReceivedFile } from './received-file.ts';

/** A picture as the schema returns it, without its bytes. */
interface Picture extends ReceivedFile {
  immutable: boolean;
}

/** The policy of a picture that is opened on its own: it may only show itself. */
const POLICY = `default-src 'none'; img-src data:; frame-ancestors 'none'; sandbox`;
const YEAR_SECONDS = 31_536_000;
const MINUTE_SECONDS = 60;

/** Streams the file of a picture with these headers, or sends 304 if the client has it: the file is then not opened. */
async function sendPicture(
  call: AdapterCall,
  headersOf: (picture: Picture) => Record<string, string>,
): Promise<Readable | FastifyReply> {
  const send = receiveBytes(call);
  const picture = (await call.run()).body as Picture;
  return send(picture, { ...headersOf(picture), 'content-security-policy': POLICY });
}

/**
 * Sends an avatar. Caches keep it for a year if `t` in its address is current, else for a minute. Shared caches keep it
 * only if the path has an id, because only an id means the same user for all callers. Pages of any origin may show it.
 */
export function avatarPicture(call: AdapterCall): Promise<Readable | FastifyReply> {
  const scope = isUuid(call.params['username']!) ? 'public' : 'private';
  return sendPicture(call, ({ immutable }) => ({
    'cache-control': `${scope}, ${immutable ? `max-age=${YEAR_SECONDS}, immutable` : `max-age=${MINUTE_SECONDS}`}`,
    'cross-origin-resource-policy': 'cross-origin',
    ...(scope === 'private' && {
      vary: [call.reply.getHeader('vary') ?? [], 'authorization, cookie'].flat().join(', '),
    }),
  }));
}

/** Sends a picture that requires credentials. */
export const privatePicture = (call: AdapterCall): Promise<Readable | FastifyReply> =>
  sendPicture(call, () => ({ 'cache-control': 'private, no-cache', 'cross-origin-resource-policy': 'same-site' }));
