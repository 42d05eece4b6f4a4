import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { methodNotAllowed, noRoute } from '../src/core/errors.ts';

/** Methods of routes, in the order of `Allow`. */
const METHODS = ['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Registers the response to requests that no route matches: 204 with `Allow` for OPTIONS, 405 with `Allow` on a known
 * path, else 404. It is sent before the body is read, whatever the method and the body are. `sendPage` may send the 404
 * as a page. Call this before routes are registered.
 */
export function respondToUnmatched(
  app: FastifyInstance,
  sendPage?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined,
): void {
  const routes: { methods: string[]; path: RegExp }[] = [];
  const respond = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { method } = request;
    const path = request.url.split('?')[0]!;
    const found = routes.filter((route) => route.path.test(path));
    const methods = METHODS.filter((known) => found.some((route) => route.methods.includes(known)));
    // A route may itself find nothing, e.g. no such file of the pages.
    if (methods.length === 0 || methods.includes(method)) {
      const page = sendPage?.(request, reply);
      if (page) return page;
      throw noRoute({ method, path });
    }
    void reply.header('allow', [...methods, 'OPTIONS'].join(', '));
    if (method !== 'OPTIONS') throw methodNotAllowed({ method, path });
    return reply.code(204).send();
  };
  app.addHook('onRoute', ({ method, url, config }) => {
    // @fastify/cors registers the route `*`.
    if (url !== '*' && !config?.isRefused) routes.push({ methods: [method].flat(), path: toPattern(url) });
  });
  app.addHook('onRequest', async (request, reply) => (request.is404 ? respond(request, reply) : undefined));
  app.setNotFoundHandler(respond);
}

const toPattern = (url: string): RegExp =>
  new RegExp(`^${url.replace(/[.]/g, '\\.').replace(/\*$/, '.*').replace(/:\w+/g, '[^/]+')}$`);
