import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { toApiError } from '../../core/api-error.ts';
import type { PublicContext } from '../../core/context.ts';
import { logFailure } from '../../core/log-failure.ts';
import type { Platform } from '../../core/platform.ts';
import type { Authenticator } from '../../services/identity/authenticator.ts';
import { prefersHtml } from '../pages/html.ts';
import type { RateLimiter } from '../rate-limit.ts';
import type { CreateContext } from '../request-context.ts';
import { traceGraphql } from '../tracing.ts';
import { toRequestError } from './request-error.ts';
import { createSocketHandler } from './websocket.ts';

export interface GraphqlOptions {
  schema: GraphQLSchema;
  apollo: ApolloServer<PublicContext>;
  platform: Platform;
  authenticator: Authenticator;
  limiter: RateLimiter;
  createContext: CreateContext;
}

/**
 * Registers `/graphql`: POST, GET and WebSocket on one path. Browsers that open it are sent to GraphiQL. See docs/contract.md#graphql.
 */
export async function registerGraphqlRoutes(app: FastifyInstance, options: GraphqlOptions): Promise<void> {
  const context = (request: FastifyRequest, reply: FastifyReply) =>
    options.createContext(request, reply, 'graphql').catch((error: unknown) => {
      if (!toApiError(error))
        logFailure(request.log, { err: error, requestId: request.id }, 'Request failed', reply.raw.destroyed);
      throw toRequestError(error);
    });
  const apolloHandler = fastifyApolloHandler(options.apollo, { context: context as never }) as unknown as (
    ...parameters: Parameters<RouteHandlerMethod>
  ) => Promise<unknown>;
  const handler: RouteHandlerMethod = (request, reply) => traceGraphql(request, () => apolloHandler(request, reply));
  const handleGet: RouteHandlerMethod = function (request, reply) {
    // A query may read what no cache stores, as the REST routes of `NOT_STORED`.
    void reply.header('cache-control', 'no-store');
    if (!prefersHtml(request)) return handler.call(this, request, reply);
    // A browser that opens this address.
    const [, search] = request.url.split('?');
    return reply.header('vary', 'accept').redirect(`/graphiql${search ? `?${search}` : ''}`);
  };
  app.route({ method: 'GET', url: '/graphql', handler: handleGet, wsHandler: createSocketHandler(options) as never });
  app.route({ method: 'POST', url: '/graphql', handler });
}
