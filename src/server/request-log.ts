import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';

/** One line a request, at level debug. It names the route and not the address as sent, which may hold a secret. */
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
    if (error) request.log.error({ ...line, err: error }, 'request failed');
    else request.log.debug(line, 'request answered');
  }
}
