import type { QueueLimits } from '../adapters/queue/pg-boss.ts';
import { halfOf } from '../core/fair-gate.ts';

/** Returns the limits of the queues of one worker. The limit of a user is half the limit of a tenant. */
export const queueLimitsOf = (concurrency: number): QueueLimits => ({
  operations: { concurrency, perTenant: halfOf(concurrency) },
  // They wait most of the time, and take no place of the operations that they start.
  jobs: { concurrency: 64, perTenant: 16 },
  // The sandbox and the browser have two places each.
  renderings: { concurrency: 4, perTenant: 2 },
  // They wait for drives most of the time.
  syncs: { concurrency: 4, perTenant: 2 },
  // Their provider may not respond.
  images: { concurrency: 8, perTenant: 4 },
  // They wait most of the time: for providers, for tools, and for the images and runs that a tool starts.
  agents: { concurrency: 64, perTenant: 16 },
});
