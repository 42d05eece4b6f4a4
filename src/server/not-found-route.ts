import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { methodNotAllowed, noRoute } from '../core/errors.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const;

/**
 * Creates the handler of requests that no route matches: 204 with `Allow` for OPTIONS, 405 with `Allow` on a known
 * path, else 404.
 */
export const handleNotFound =
  (app: FastifyInstance) =>
  (request: FastifyRequest, reply: FastifyReply): void => {
    const path = request.url.split('?')[0]!;
    const methods = METHODS.filter((method) => app.hasRoute({ method, url: path }));
    if (!methods.length) throw noRoute({ method: request.method, path });
    void reply.header('allow', [...methods, 'OPTIONS'].join(', '));
    if (request.method !== 'OPTIONS') throw methodNotAllowed({ method: request.method, path });
    void reply.code(204).send();
  };
