import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import { logFailure } from '../core/log-failure.ts';

/**
 * Logs one line for each request, at level debug. It contains the route instead of the URL, which may contain a secret,
 * and the name of a GraphQL operation.
 */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const line = {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      ...(request.graphqlOperation && {
        operation: request.graphqlOperation.name,
        type: request.graphqlOperation.type,
      }),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    if (error) logFailure(request.log, { ...line, err: error }, 'Request failed', reply.raw.destroyed);
    else request.log.debug(line, 'Request completed');
  }

  /** Logs that a response ended after its first byte: the client disconnected, or its source failed. */
  override streamError(err: Error, request: FastifyRequest, reply: FastifyReply): void {
    logFailure(request.log, { requestId: request.id, err }, 'A response was interrupted', reply.raw.destroyed);
  }
}
