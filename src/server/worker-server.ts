import Fastify, { type FastifyInstance } from 'fastify';
import { sendError } from '../../rest-bridge/send-error.ts';
import { respondToUnmatched } from '../../rest-bridge/unmatched-requests.ts';
import type { Platform } from '../core/platform.ts';
import { registerHealthRoutes } from './health.ts';
import { RequestLog } from './request-log.ts';

/**
 * Creates the server of a process with `ROLE=worker`: `/healthz`, `/readyz` and `/metrics`. See
 * docs/contract/running.md#running-it.
 */
export async function createWorkerServer(platform: Platform): Promise<FastifyInstance> {
  const app = Fastify({ loggerInstance: platform.log, logController: new RequestLog() }) as unknown as FastifyInstance;
  app.setErrorHandler(sendError);
  respondToUnmatched(app);
  await registerHealthRoutes(app, { platform });
  return app;
}
