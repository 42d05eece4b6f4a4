import type { FastifyInstance } from 'fastify';

/** Events of a response that waits for its connection: its turn has come, or it never will. */
const ENDS_OF_WAIT = ['socket', 'close', 'error'];

/**
 * Delays a pipelined request until the earlier responses on its connection are sent. Otherwise its work would run, and
 * its response wait in memory, as long as the first response takes. Call this before other hooks.
 */
export function queuePipelinedRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, { raw }, done) => {
    if (raw.socket || raw.destroyed) return done();
    const resume = () => {
      for (const event of ENDS_OF_WAIT) raw.off(event, resume);
      done();
    };
    for (const event of ENDS_OF_WAIT) raw.once(event, resume);
  });
}
