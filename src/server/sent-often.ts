import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding, matchesEntityTag, type Encoding } from '../../rest-bridge/negotiation.ts';
import { compress, varyByEncoding } from './compression.ts';

/**
 * Content that is the same for all callers. It is compressed once: compressing 1 MB for each of many callers would leave
 * no CPU to others.
 */
export class SentOften {
  readonly #content: Buffer;
  readonly #compressed: Partial<Record<Encoding, Promise<Buffer>>> = {};
  readonly #tag: string;

  constructor(content: string | Buffer) {
    this.#content = Buffer.from(content as string);
    this.#tag = `"${hash('sha256', this.#content, 'base64url').slice(0, 22)}"`;
  }

  /** Sends the content in the encoding that the client prefers. */
  async send({ headers }: Pick<FastifyRequest, 'headers'>, reply: FastifyReply): Promise<FastifyReply> {
    const encoding = chooseEncoding(headers['accept-encoding']);
    varyByEncoding(reply);
    if (!encoding) return reply.send(this.#content);
    const compressed = await (this.#compressed[encoding] ??= compress(encoding, this.#content));
    return reply.header('content-encoding', encoding).send(compressed);
  }

  /** Sends the content with its entity tag; 304 if the client has it. */
  async sendTagged(request: Pick<FastifyRequest, 'headers'>, reply: FastifyReply): Promise<FastifyReply> {
    void reply.header('etag', this.#tag).header('cache-control', 'no-cache');
    if (matchesEntityTag(request.headers['if-none-match'], this.#tag)) return reply.code(304).send();
    return this.send(request, reply);
  }
}
