import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { chooseEncoding, type Encoding } from '../../rest-bridge/negotiation.ts';
import { FairGate } from '../core/fair-gate.ts';
import { callerOfResponse } from './unread-responses.ts';

/** Smaller responses are compressed in a few milliseconds. */
const MIN_LARGE_BYTES = 65_536;

/** Types of the responses that are compressed here. */
const COMPRESSIBLE = /^text\/(?!event-stream)|[+/](?:json|xml)(?:;|$)/;

const GATE = FairGate.shared({ places: 1, maxWaiting: 200, taskNoun: 'large responses' });

const COMPRESS: Record<Encoding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) => promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: promisify(gzip),
};

/** Returns compressed content. */
export const compress = (encoding: Encoding, content: Buffer): Promise<Buffer> => COMPRESS[encoding](content);

/** Names `Accept-Encoding` among the headers of a request that a response depends on. */
export function varyByEncoding(reply: FastifyReply): void {
  const vary = reply.getHeader('vary');
  void reply.header('vary', vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`);
}

/**
 * Compresses large complete responses one at a time. Otherwise the responses of one user would take all threads of the pool, and more
 * cores than there are. Call this after `limitUnreadResponses`, and before the hooks that compress other responses. See
 * docs/contract/operations.md#fairness.
 */
export function compressLargeInTurn(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!Buffer.isBuffer(payload) || payload.length < MIN_LARGE_BYTES || request.method === 'HEAD') return payload;
    const isWhole = reply.statusCode !== 206 && !reply.hasHeader('content-encoding');
    const encoding = chooseEncoding(request.headers['accept-encoding']);
    if (!encoding || !isWhole || !COMPRESSIBLE.test(String(reply.getHeader('content-type')))) return payload;
    const closed = new AbortController();
    const abort = () => closed.abort(new Error('The client left'));
    reply.raw.once('close', abort);
    const content = await GATE.run(callerOfResponse(request, reply), closed.signal, () => compress(encoding, payload))
      // The client left, or too many responses wait: it is sent as it is.
      .catch(() => undefined);
    reply.raw.off('close', abort);
    if (!content) return payload;
    varyByEncoding(reply);
    void reply.headers({ 'content-encoding': encoding, 'content-length': content.length });
    return content;
  });
}
