import type { FastifyInstance } from 'fastify';
import { isClosing } from '../../rest-bridge/closing-connections.ts';

/**
 * Delays a pipelined request until the earlier responses on its connection are sent. Otherwise its work would run, and
 * its response wait in memory, as long as the first response takes. A request on a connection that closes does not run.
 * Call this before other hooks.
 */
export function queuePipelinedRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = reply;
    const start = () => {
      if (isClosing(request.raw.socket)) reply.hijack();
      else done();
    };
    if (raw.socket || raw.destroyed) return start();
    const proceed = () => {
      raw.off('socket', proceed).off('close', proceed);
      start();
    };
    raw.once('socket', proceed).once('close', proceed);
  });
}
