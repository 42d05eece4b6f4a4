import type { FastifyReply, FastifyRequest } from 'fastify';
import { unauthenticated } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { CreateContext } from '../request-context.ts';

/** Throws UNAUTHENTICATED where the schema is not public and the caller has no valid credentials. */
export async function requireSchemaAccess(
  { platform, createContext }: { platform: Platform; createContext: CreateContext },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (!platform.config.PUBLIC_SCHEMA && !(await createContext(request, reply, 'rest')).viewer) throw unauthenticated();
}
