import type { FastifyReply, FastifyRequest } from 'fastify';
import { notJson } from '../src/core/api-error.ts';

/** The value of `Accept-Query`: the media types of the bodies of QUERY (RFC 10008). */
export const ACCEPT_QUERY = 'application/json';

/** Begins a request with QUERY: throws 415 without `Content-Type`, which the method requires. */
export function beginQuery({ headers }: FastifyRequest, reply: FastifyReply): void {
  if (headers['content-type'] === undefined) throw notJson();
  void reply.header('accept-query', ACCEPT_QUERY);
}
