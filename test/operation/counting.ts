import { setTimeout } from 'node:timers/promises';
import { badInput } from '../../src/core/errors.ts';
import { newId } from '../../src/core/id.ts';
import type { Handler } from '../../src/operations/handler.ts';

/** What the counting operation is asked to do. */
export interface Counting {
  /** Counts this far, */
  until?: number;
  /** waiting so many milliseconds at each number; */
  every?: number;
  /** then fails, as a caller's fault or as ours. */
  fail?: 'fault' | 'bug';
  /** Counts on although it was told to stop. */
  deaf?: boolean;
}

/** An operation that counts. Its publication is a generation row with the attempt as its number of records. */
export const counting = (takeover = true): Handler => ({
  takeover,
  async run(job) {
    const { until = 0, every = 0, fail, deaf = false } = job.input as Counting;
    for (let n = 1; n <= until; n++) {
      job.progress({ current: n, total: until, message: `Number ${n}` });
      if (every > 0) await setTimeout(every, undefined, deaf ? {} : { signal: job.signal });
    }
    if (fail === 'fault') throw badInput('The number is odd');
    if (fail === 'bug') throw new Error('The password is hunter2');
    return {
      async publish(tx) {
        await tx.query({
          text: `insert into dws.generation (id, tenant_id, dataset_id, fields, records, size) values ($1, $2, $3, '[]', $4, 0)`,
          values: [newId(), job.tenantId, job.resourceId, job.attempt],
        });
        return { pid: process.pid, attempt: job.attempt };
      },
    };
  },
});
