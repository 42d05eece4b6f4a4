import type { FastifyInstance } from 'fastify';

/**
 * Delays a pipelined request until the earlier responses on its connection are sent. Otherwise its work would run, and
 * its response wait in memory, as long as the first response takes. Call this before other hooks.
 */
export function queuePipelinedRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, { raw }, done) => {
    if (raw.socket || raw.destroyed) return done();
    const proceed = () => {
      raw.off('socket', proceed).off('close', proceed);
      done();
    };
    raw.once('socket', proceed).once('close', proceed);
  });
}
