import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';

/**
 * Logs one line for each request, at level debug. It contains the route instead of the URL, which may contain a secret.
 */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const line = {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    if (error) request.log.error({ ...line, err: error }, 'Request failed');
    else request.log.debug(line, 'Request completed');
  }
}
