import type { FastifyReply } from 'fastify';
import type { AdapterCall } from './call.ts';

/** Redirects the browser to the URL or path that the field returns. */
export async function redirect({ run, reply }: AdapterCall): Promise<FastifyReply> {
  const { body } = await run();
  return reply.header('cache-control', 'no-store').redirect(body as string, 302);
}
